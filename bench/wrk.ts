// Creates from 64 connections of wrk, each with an id of its own.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const isWrkHere = spawnSync('wrk', ['--version']).error === undefined;

export interface Load {
  url: string;
  secret: string;
  firstId: number;
  seconds: number;
  /** For its script. */
  folder: string;
}

/** Throws when one was not answered with 2xx. */
export async function loadCreates({ url, secret, firstId, seconds, folder }: Load): Promise<{
  requests: number;
  perSecond: number;
}> {
  const script = join(folder, 'load.lua');
  writeFileSync(
    script,
    `local n = ${firstId}
     request = function()
       n = n + 1
       local headers = { ["Content-Type"] = "application/json", ["Authorization"] = "Bearer ${secret}" }
       return wrk.format("POST", "/plants", headers, '{"id":' .. n .. ',"name":"Monstera deliciosa ' .. n .. '","tag":"tropical"}')
     end`,
  );
  const wrk = spawn('wrk', ['-t1', '-c64', `-d${seconds}`, '-s', script, url]);
  let printed = '';
  wrk.stdout.on('data', (chunk) => {
    printed += chunk;
  });
  await once(wrk, 'exit');
  if (/Non-2xx/.test(printed)) throw new Error(printed);
  return {
    requests: Number(/(\d+) requests in/.exec(printed)?.[1]),
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(printed)?.[1]),
  };
}
