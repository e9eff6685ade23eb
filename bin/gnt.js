#!/usr/bin/env node
'use strict'
require('../dist/gnt.js')
