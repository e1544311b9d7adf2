#!/usr/bin/env node
// Gives Windows the command "exec" in the scripts of package.json. Other shells have it built in and never run this file.
// There, exec replaces the shell by the program, so that Ctrl-C reaches only the program, and npm reports its exit status.

import { spawnSync } from 'node:child_process';

const [command = '', ...args] = process.argv.slice(2);
const { status } = spawnSync(command, args, { stdio: 'inherit' });
process.exitCode = status ?? 1;
