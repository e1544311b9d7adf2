// Reads the TLS certificate and its key, and reloads them when the files change. Open connections continue.

import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { SecureContextOptions, Server } from 'node:tls';
import type { TlsFiles } from '../../config/config.ts';
import { UsageError } from '../../lib/user-error.ts';
import type { Observe } from '../../observability/service-events.ts';

/** Value of Strict-Transport-Security: browsers use only TLS for one year. */
export const HSTS = 'max-age=31536000';
/** Excludes the key exchange with which everything recorded can be decrypted if the key of the certificate leaks. */
const FORWARD_SECRET = '!kRSA';
/** Length that Node requires. */
const TICKET_KEYS_BYTES = 48;

type CertificateFiles = SecureContextOptions & { cert: string; key: string };

/** The certificate, and what a client needs to resume a session in any thread. */
export type Certificate = CertificateFiles & { ticketKeys: Uint8Array; sessionIdContext: string };

/** Reads the certificate and its key. Throws UsageError if they cannot be used. */
export async function readCertificate(files: TlsFiles): Promise<Certificate> {
  const read = requireUsable(await readFiles(files));
  return { ...read, ticketKeys: randomBytes(TICKET_KEYS_BYTES), sessionIdContext: 'plant-store' };
}

async function readFiles({ certPath, keyPath }: TlsFiles): Promise<CertificateFiles> {
  const [cert, key] = await Promise.all([read('TLS_CERT', certPath), read('TLS_KEY', keyPath)]);
  return { cert, key, minVersion: 'TLSv1.2', ciphers: `${tls().DEFAULT_CIPHERS}:${FORWARD_SECRET}` };
}

/** Loads Node's TLS, which a server without a certificate does not need. */
function tls() {
  return process.getBuiltinModule('node:tls');
}

async function read(name: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new UsageError(
      `${name} cannot be read: ${(error as Error).message}. Set it to a PEM file that this user can read.`,
    );
  }
}

function requireUsable(certificate: CertificateFiles): CertificateFiles {
  try {
    tls().createSecureContext(certificate); // accepts an empty file, so the next check is also needed
    if (!new X509Certificate(certificate.cert).checkPrivateKey(createPrivateKey(certificate.key))) {
      throw new Error('the key belongs to another certificate');
    }
    return certificate;
  } catch (error) {
    throw new UsageError(`TLS_CERT and TLS_KEY are not a certificate and its key: ${(error as Error).message}`);
  }
}

/** Reloads the files at an interval. Keeps the current certificate while the new certificate and key do not match. */
export function followCertificate(
  files: TlsFiles,
  first: Certificate,
  server: Server,
  { observe, everyMs }: { observe: Observe; everyMs: number },
): void {
  let inUse: CertificateFiles = first;
  /**
   * The last fault and how often it occurred in a row. A single one can mean that only one of the two files was
   * replaced yet.
   */
  let fault = { reason: '', times: 0 };
  const timer = setInterval(reload, everyMs).unref();
  server.on('close', () => clearInterval(timer));

  async function reload(): Promise<void> {
    try {
      const found = await readFiles(files);
      if (found.cert !== inUse.cert || found.key !== inUse.key) {
        server.setSecureContext({ ...first, ...requireUsable(found) });
        inUse = found;
        const validTo = new X509Certificate(found.cert).validToDate.toISOString();
        observe({ kind: 'certificate_renewed', validTo });
      }
      fault = { reason: '', times: 0 };
    } catch (error) {
      const reason = (error as Error).message;
      fault = { reason, times: reason === fault.reason ? fault.times + 1 : 1 };
      if (fault.times === 2) observe({ kind: 'certificate_unusable', reason });
    }
  }
}
