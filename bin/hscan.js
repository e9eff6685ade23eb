#!/usr/bin/env node
'use strict'
require('../dist/htools.js')
