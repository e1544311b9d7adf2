// Checks of the command doctor on the server at the URL of the settings: whether it responds, can store plants, and has
// the version of this command.

import packageJson from '../../../package.json' with { type: 'json' };
import { OWN_COMMAND } from '../../config/command-name.ts';
import { PlantStoreError } from '../../domain/errors.ts';
import { showUrl } from '../../lib/describe-url.ts';
import { isLocalHost } from '../../lib/local-host.ts';
import { UserError } from '../../lib/user-error.ts';
import { type Finding, ok, problem, skipped, toProblem, warning } from './finding.ts';

const TIMEOUT_MS = 5000;

interface CheckedServer {
  /** URL of the server, or undefined if PORT is 0. */
  url: string | undefined;
  token: string | undefined;
  /** True if a server is using the SQLite database. Undefined if that is unknown. */
  usesDatabase: boolean | undefined;
}

export async function checkServer({ url, token, usesDatabase }: CheckedServer): Promise<Finding> {
  if (url === undefined) return skipped('PORT is 0 (any free port)', 'Set --url or PLANT_STORE_URL to check a server.');
  const name = showUrl(url);
  try {
    await getStatus(url, '/healthz', 'ok');
  } catch (error) {
    return explain(error, name, usesDatabase);
  }
  try {
    await getStatus(url, '/readyz', 'ready');
  } catch (error) {
    const reason = (error as Error).message.replace(/\.$/, '');
    return problem(
      `the server at ${name} cannot store plants: ${reason}`,
      'Read the service log. See the other checks of the database.',
    );
  }
  const version = await findVersion(url, token);
  if (version !== undefined && version !== packageJson.version) {
    return warning(
      `the server at ${name} has version ${version}, and this command ${packageJson.version}`,
      'Restart the server with the new version, or upgrade this command.',
    );
  }
  if (usesDatabase === false && isLocalHost(new URL(url).hostname)) {
    return warning(
      `the server at ${name} uses another database`,
      'Set DATABASE_URL as for that server, or set --url or PLANT_STORE_URL to the server of this database.',
    );
  }
  return ok(`${name} can store plants${version === undefined ? '' : `, version ${version}`}`);
}

/** Requests a path that needs no token. Throws PlantStoreError. */
async function getStatus(url: string, path: '/healthz' | '/readyz', wanted: string): Promise<void> {
  const [{ createRequester }, { unexpectedResponse }] = await Promise.all([
    import('../../client/request.ts'),
    import('../../client/response.ts'),
  ]);
  const base = url.replace(/\/$/, '');
  const { requestJson } = createRequester(base, { url, token: 'none', retries: 0, timeoutMs: TIMEOUT_MS });
  const body = await requestJson<{ status?: unknown }>({ method: 'GET', path });
  if (body?.status !== wanted) throw unexpectedResponse(`${path} does not return "${wanted}"`);
}

/** Returns the version of the server if the token can read it. */
async function findVersion(url: string, token: string | undefined): Promise<string | undefined> {
  if (token === undefined) return undefined;
  const { createClient } = await import('../../client/client.ts');
  try {
    const status = await createClient({ url, token, retries: 0, timeoutMs: TIMEOUT_MS }).status();
    return String(status.version);
  } catch {
    return undefined; // the token lacks the scope, or is not for this server
  }
}

/** Describes a server that does not respond. Without a running server there may be nothing to fix. */
async function explain(error: unknown, name: string, usesDatabase: boolean | undefined): Promise<Finding> {
  if (!(error instanceof PlantStoreError)) throw error;
  const [{ explainFailure }, { networkCodesOf }] = await Promise.all([
    import('../remote-failure.ts'),
    import('../../client/response.ts'),
  ]);
  if (networkCodesOf(error)?.includes('ECONNREFUSED')) {
    if (usesDatabase) {
      return warning(
        `a server is using the database, but none responds at ${name}`,
        'Set HOST, PORT and TLS_CERT as for that server, or set --url or PLANT_STORE_URL to its URL.',
      );
    }
    return skipped(
      `no server responds at ${name}`,
      `Start one with "${OWN_COMMAND} serve", or set --url or PLANT_STORE_URL.`,
    );
  }
  return {
    ...toProblem(new UserError(explainFailure(error, { url: name, source: { kind: 'variable' } }, true))),
    status: 'warning',
  };
}
