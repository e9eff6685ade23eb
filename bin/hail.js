#!/usr/bin/env node
'use strict'
require('./load.js').load('htools')
