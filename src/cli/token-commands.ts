// The declaration of plant-store token …; token.ts does the work.

import type { Command } from 'commander';
import { readConfig } from '../config/config.ts';
import { SCOPES } from '../domain/names.ts';
import { examples, optionWith } from './declare.ts';

const TOKEN_ID = ['<id>', 'as "token list" shows it: tok_…'] as const;

export function declareToken(program: Command): void {
  const token = program
    .command('token')
    .description('make, list, renew and revoke the tokens that clients send')
    .addHelpText('after', examples('plant-store token create --name shop', 'plant-store token list'));

  token
    .command('create')
    .description('make a token and print its secret, which is shown only now')
    .requiredOption('--name <name>', 'who will use it')
    .addOption(
      optionWith('--scopes <list>', 'of plants:read, plants:write and admin', { values: SCOPES, isList: true }).default(
        'plants:read,plants:write',
      ),
    )
    .option('--expires <time>', 'after 30m, 12h, 90d or 4w (default: never)')
    .option('--rate <rate>', 'how often it may ask at most: 100/s, 600/m or 5000/h (default: no limit)')
    .addHelpText(
      'after',
      examples(
        'plant-store token create --name shop',
        'plant-store token create --name importer --scopes plants:write --expires 90d',
        'plant-store token create --name stranger --scopes plants:read --rate 10/s',
        'export PLANT_STORE_TOKEN=$(plant-store token create --name me)',
      ),
    )
    .action(async (options) => {
      const config = readConfig();
      await (await import('./token.ts')).createToken(config, options);
    });

  token
    .command('list')
    .description('show all tokens, never their secrets')
    .option('--json', 'as JSON, which is the default when piped')
    .addHelpText('after', examples('plant-store token list', "plant-store token list | jq -r '.[].name'"))
    .action(async (options) => {
      const config = readConfig();
      await (await import('./token.ts')).listTokens(config, options);
    });

  token
    .command('rotate')
    .description('give a token a new secret and print it; for a while the old one is taken, too')
    .argument(...TOKEN_ID)
    .option('--grace <time>', 'for how long: 30m, 12h, 7d; 0 ends the old secret now', '24h')
    .addHelpText(
      'after',
      examples(
        'plant-store token rotate tok_…',
        'plant-store token rotate tok_… --grace 0   (the old secret has leaked)',
      ),
    )
    .action(async (id, options) => {
      const config = readConfig();
      await (await import('./token.ts')).rotateToken(config, id, options);
    });

  token
    .command('revoke')
    .description('end a token; a running server refuses it within a second')
    .argument(...TOKEN_ID)
    .option('--force', 'also the last one that is active with the scope admin')
    .addHelpText('after', examples('plant-store token revoke tok_…'))
    .action(async (id, options) => {
      const config = readConfig();
      await (await import('./token.ts')).revokeToken(config, id, options);
    });
}
