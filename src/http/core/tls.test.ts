// Tests of TLS: versions, certificate reload without a restart, and the warning without TLS. tls.long.test.ts tests the
// output and the stop of the process.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type PeerCertificate, type SecureVersion, setDefaultCACertificates } from 'node:tls';
import { makeCertificate, needsOpenssl } from '../../../testing/certificate.ts';
import { sendRaw } from '../../../testing/request.ts';
import { makeFolder } from '../../../testing/server.ts';
import { startTestService, type TestService } from '../../../testing/service.ts';
import { until } from '../../../testing/until.ts';
import { createClient } from '../../client/client.ts';
import { UsageError } from '../../lib/user-error.ts';

suite('TLS', needsOpenssl, () => {
  const folders = [makeFolder(), makeFolder()] as const;
  const live = makeFolder();
  const files = { TLS_CERT: join(live, 'cert.pem'), TLS_KEY: join(live, 'key.pem') };
  let server: TestService;

  before(async () => {
    for (const folder of folders) makeCertificate(folder, 'IP:127.0.0.1');
    install(folders[0]);
    server = await startTestService({ env: files, timeouts: { certificateMs: 20 } });
  });
  after(() => server.stop());

  function install(folder: string): void {
    for (const [from, to] of [
      ['server.crt', files.TLS_CERT],
      ['server.key', files.TLS_KEY],
    ] as const) {
      writeFileSync(`${to}.new`, readFileSync(join(folder, from)));
      renameSync(`${to}.new`, to);
    }
  }

  function get(path: string, agent?: Agent): Promise<{ status: number; headers: NodeJS.Dict<string | string[]> }> {
    const options = { port: server.port, path, rejectUnauthorized: false, ...(agent && { agent }) };
    return new Promise((resolve, reject) => {
      request(options, (response) => {
        response.resume().on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers }));
      })
        .on('error', reject)
        .end();
    });
  }

  /** Returns the protocol and the certificate of a new connection. */
  function handshake(
    maxVersion?: SecureVersion,
    ciphers = 'DEFAULT@SECLEVEL=0',
  ): Promise<{ protocol: string | null; certificate: PeerCertificate }> {
    const options = {
      port: server.port,
      rejectUnauthorized: false,
      ...(maxVersion && { minVersion: 'TLSv1' as const, maxVersion, ciphers }),
    };
    return new Promise((resolve, reject) => {
      const socket = connect(options, () => {
        resolve({ protocol: socket.getProtocol(), certificate: socket.getPeerCertificate() });
        socket.destroy();
      }).on('error', reject);
    });
  }

  test('the URL is https, every response has HSTS, and a client that trusts the certificate works as usual', async () => {
    assert.match(server.url, /^https:\/\/127\.0\.0\.1:\d+$/);
    for (const path of ['/healthz', '/plants', '/nowhere', '/%zz']) {
      assert.equal((await get(path)).headers['strict-transport-security'], 'max-age=31536000', path);
    }
    await assert.rejects(createClient({ url: server.url, token: server.secret, retries: 0 }).get(1n), /self-signed/);
    setDefaultCACertificates([readFileSync(join(folders[0], 'server.crt'), 'utf8')]);
    const client = createClient({ url: server.url, token: server.secret });
    await client.create({ id: 9223372036854775807n, name: 'x' });
    assert.equal((await client.get(9223372036854775807n)).record.id, 9223372036854775807n);
  });

  test('the server accepts TLS 1.2 and 1.3, but no older version and no plain HTTP', async () => {
    assert.equal((await handshake()).protocol, 'TLSv1.3');
    assert.equal((await handshake('TLSv1.2')).protocol, 'TLSv1.2');
    await assert.rejects(handshake('TLSv1.1'));
    await assert.rejects(handshake('TLSv1'));
    const plain = await sendRaw(server.port, 'GET /plants HTTP/1.1\r\nHost: x\r\n\r\n').catch(() => '');
    assert.doesNotMatch(plain, /HTTP\/1\.1 200/);
    assert.equal((await get('/healthz')).status, 200);
  });

  test('the server accepts no suite of TLS 1.2 without forward secrecy', async () => {
    assert.equal((await handshake('TLSv1.2', 'ECDHE-RSA-AES128-GCM-SHA256')).protocol, 'TLSv1.2');
    await assert.rejects(handshake('TLSv1.2', 'kRSA'), /handshake failure/);
  });

  test('a session that one thread has started is resumed by all, also with a new certificate', async () => {
    const other = await startTestService({ env: { ...files, THREADS: '3' }, timeouts: { certificateMs: 20 } });
    await until(() => other.events.some(({ kind }) => kind === 'threads_listening'));
    for (const folder of [folders[1], folders[0]]) {
      for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
        const { session } = await resume(version);
        for (let n = 0; n < 10; n++) assert.equal((await resume(version, session)).isReused, true, version);
      }
      install(folder);
      await sleep(100);
    }
    await other.stop();

    /** Opens a connection and returns its session, which TLS 1.3 sends after the handshake. */
    async function resume(version: SecureVersion, session?: Buffer): Promise<{ isReused: boolean; session: Buffer }> {
      const options = { port: other.port, rejectUnauthorized: false, minVersion: version, maxVersion: version };
      const socket = connect({ ...options, ...(session && { session }) });
      let [isReused, received] = [false, session];
      socket.on('secureConnect', () => {
        isReused = socket.isSessionReused();
      });
      socket.on('session', (given) => {
        received = given;
      });
      socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      await once(socket.resume(), 'close');
      return { isReused, session: received as Buffer };
    }
  });

  test('a parser error gets one response, and the connection is closed', async () => {
    const answer = await new Promise<string>((resolve, reject) => {
      let text = '';
      const socket = connect({ port: server.port, rejectUnauthorized: false }, () =>
        socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nnonsense\r\n\r\n'),
      );
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('close', () => resolve(text)).on('error', reject);
    });
    assert.deepEqual(answer.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 400']);
  });

  test('a new certificate is used while connections continue, but not one that does not match its key', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
    assert.equal((await get('/healthz', agent)).status, 200);
    const { serialNumber: first } = (await handshake()).certificate;
    const unusable = () => server.events.filter((event) => event.kind === 'certificate_unusable');

    writeFileSync(files.TLS_CERT, '');
    await until(() => unusable().length > 0); // the fault occurred twice
    assert.equal((await handshake()).certificate.serialNumber, first, 'a file that is being written');
    writeFileSync(files.TLS_CERT, readFileSync(join(folders[0], 'server.crt')));
    writeFileSync(files.TLS_KEY, readFileSync(join(folders[1], 'server.key')));
    await until(() => unusable().some(({ reason }) => /mismatch/.test(reason)));
    assert.equal((await handshake()).certificate.serialNumber, first, 'the old certificate stays in use');

    install(folders[1]);
    const { serialNumber: second } = await until(async () => {
      const { certificate } = await handshake();
      return certificate.serialNumber === first ? undefined : certificate;
    });
    assert.notEqual(second, first);
    assert.match(server.events.find((event) => event.kind === 'certificate_renewed')?.validTo ?? '', /^\d{4}-/);
    assert.equal((await get('/healthz', agent)).status, 200, 'an old connection continues');
    agent.destroy();
  });

  test('a client that sends close_notify still gets the response', async () => {
    const options = { port: server.port, rejectUnauthorized: false, allowHalfOpen: true };
    const socket = connect(options);
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    const body = '{"id":77,"name":"half open"}';
    socket.end(
      `POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.secret}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body}`,
    );
    await once(socket, 'end');
    assert.match(received, /^HTTP\/1.1 200 /);
    socket.destroy();
  });

  test('a client that connects and sends nothing is disconnected', async () => {
    const impatient = await startTestService({ env: files, timeouts: { handshakeMs: 50 } });
    await once(
      connectPlain(impatient.port).on('error', () => {}),
      'close',
    );
    await impatient.stop();
  });

  test('a stop does not wait for a client that has sent nothing', async () => {
    const other = await startTestService({ env: files });
    const silent = connectPlain(other.port).on('error', () => {});
    await once(silent, 'connect');
    const closed = once(silent, 'close');
    await other.stop();
    await closed;
  });

  const BAD: [name: string, env: Record<string, string>, says: RegExp][] = [
    ['a missing file', { TLS_CERT: '/nowhere.pem' }, /^TLS_CERT cannot be read: ENOENT/],
    ['an empty file', { TLS_CERT: '/dev/null', TLS_KEY: '/dev/null' }, /are not a certificate and its key: /],
    [
      'a file without a certificate',
      { TLS_CERT: import.meta.filename },
      /^TLS_CERT and TLS_KEY are not a certificate /,
    ],
    [
      'the key of another certificate',
      { TLS_KEY: join(folders[0], 'server.key') },
      /are not a certificate and its key: /,
    ],
  ];
  for (const [name, env, message] of BAD) {
    test(`${name} is rejected before the database is opened`, async () => {
      const folder = makeFolder();
      await assert.rejects(
        startTestService({ folder, env: { ...files, ...env } }),
        (error) => error instanceof UsageError && message.test(error.message),
      );
      assert.deepEqual(readdirSync(folder), []);
    });
  }
});

for (const [name, env, isWarned] of [
  ['on a public address without TLS', { HOST: '0.0.0.0' }, true],
  ['on a public address behind a proxy', { HOST: '0.0.0.0', TRUST_PROXY: '10.0.0.0/8' }, false],
  ['on loopback', {}, false],
  ['on IPv6 loopback', { HOST: '::1' }, false],
  ['on localhost', { HOST: 'localhost' }, false],
] as const) {
  test(`the service log ${isWarned ? 'warns' : 'does not warn'} ${name} that tokens can be read`, async () => {
    const { events, stop } = await startTestService({ env });
    await stop();
    assert.equal(
      events.some(({ kind }) => kind === 'no_tls'),
      isWarned,
    );
  });
}
