#!/usr/bin/env node
'use strict'
require('./load').load('job')
