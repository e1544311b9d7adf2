// The commands profile list and profile use, and logout, which change the saved profiles and send no request.

import { Option } from 'commander';
import { OWN_COMMAND } from '../../config/command-name.ts';
import { UsageError, UserError } from '../../lib/user-error.ts';
import type { CommandContext } from '../command-io.ts';
import type { CliCommand } from '../declare.ts';
import { type FormOptions, printRows, report, writeWords } from '../terminal/report.ts';
import type { Column } from '../terminal/table.ts';
import type { Profile } from './profile-file.ts';

interface ListedProfile {
  name: string;
  url: string;
  tokenId?: string;
  current: boolean;
}

const COLUMNS: Column<ListedProfile>[] = [
  { heading: 'NAME', cell: ({ name }) => name },
  { heading: 'URL', cell: ({ url }) => url, minWidth: 24 },
  { heading: 'TOKEN', cell: ({ tokenId }) => tokenId, ifRoom: 1 },
  { heading: 'CURRENT', cell: ({ current }) => (current ? 'yes' : undefined), colour: () => 'green' },
];

export function declareProfile(command: CliCommand): void {
  const profile = command.examples('plant-store profile list', 'plant-store profile use staging');

  profile
    .subcommand('list', 'list the saved profiles, without their tokens')
    .printsJsonOrTable('profile')
    .examples('plant-store profile list', "plant-store profile list | jq -r 'select(.current) | .url'")
    .runs(listProfiles);

  profile
    .subcommand('use', 'make a profile the current one, which commands use by default')
    .argument('<name>', 'name of the profile (see "profile list")')
    .examples('plant-store profile use staging')
    .runs(useProfile);
}

export function declareLogout(command: CliCommand): void {
  command
    .option('--profile <name>', 'profile to remove (default: PLANT_STORE_PROFILE, or the current one)')
    .addOption(new Option('--all', 'remove all profiles').conflicts('profile'))
    .notes(`
The token itself stays valid until it expires or is revoked.`)
    .examples('plant-store logout', 'plant-store logout --profile staging', 'plant-store logout --all')
    .runs(logout);
}

async function listProfiles({ io }: CommandContext, options: FormOptions): Promise<void> {
  const { findProfilesPath, readProfiles } = await import('./profile-file.ts');
  const { current, byName } = readProfiles(findProfilesPath(io.env));
  const shown = [...byName].map(([name, { url, tokenId }]) => ({
    name,
    url,
    ...(tokenId !== undefined && { tokenId }),
    current: name === current,
  }));
  await printRows(io.stdout, options, shown, {
    columns: COLUMNS,
    ifEmpty: `No profiles. Run "${OWN_COMMAND} login".`,
  });
}

async function useProfile({ io, config }: CommandContext, name: string): Promise<void> {
  const { findProfilesPath, getProfile, readProfiles, requireProfilesPath, updateProfiles } = await import(
    './profile-file.ts'
  );
  const { url } = getProfile(readProfiles(findProfilesPath(io.env)), name);
  await updateProfiles(requireProfilesPath(io.env), (profiles) => {
    getProfile(profiles, name);
    profiles.current = name;
  });
  const { findOverride } = await import('./choose-server.ts');
  const override = findOverride(config, name, url);
  if (override) writeWords(io.stderr, `Commands in this terminal do not use the profile, because ${override} is set.`);
  report(io.stdout, `Profile "${name}" is current: ${url}.`, { name, url, current: true });
}

async function logout({ io, config }: CommandContext, options: { profile?: string; all?: true }): Promise<void> {
  const { findProfilesPath, getProfile, readProfiles, requireProfilesPath, updateProfiles } = await import(
    './profile-file.ts'
  );
  const saved = readProfiles(findProfilesPath(io.env));
  const name = options.profile ?? config.clientProfile ?? saved.current;
  if (name !== undefined && !options.all) getProfile(saved, name);
  const removed = options.all ? [...saved.byName] : [...saved.byName].filter(([one]) => one === name);
  if (saved.byName.size === 0) throw new UserError('Not signed in: no profile is saved');
  if (removed.length === 0) throw new UsageError('No profile is current. Add --profile NAME or --all.');
  await updateProfiles(requireProfilesPath(io.env), (profiles) => {
    for (const [one] of removed) profiles.byName.delete(one);
    if (!profiles.byName.has(profiles.current ?? '')) profiles.current = undefined;
  });
  const others = saved.byName.size - removed.length;
  const hasNone = others > 0 && removed.some(([one]) => one === saved.current);
  const choice = hasNone ? [`No profile is current. Choose one with "${OWN_COMMAND} profile use NAME".`] : [];
  const words = [...removed.map(([one, profile]) => describeRemoved(one, profile)), ...choice].join('\n');
  report(io.stdout, words, { removed: removed.map(([one]) => one) });
}

/** Returns the line about a removed profile, with the way to revoke its token. */
function describeRemoved(name: string, { url, tokenId }: Profile): string {
  const revoke =
    tokenId === undefined
      ? ''
      : ` To revoke it, run "${OWN_COMMAND} token revoke ${tokenId} --database" on the server.`;
  return `Signed out of ${url}: profile "${name}" removed. Its token is still valid.${revoke}`;
}
