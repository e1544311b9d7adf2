// The certificate and its key: read at the start, and again whenever the files change, without a connection lost.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContextOptions, type Server } from 'node:tls';
import type { TlsFiles } from '../../config/config.ts';
import { UsageError } from '../../lib/user-error.ts';
import type { Observe } from '../../observability/service-events.ts';

/** For a year nobody who was here comes back without TLS. */
export const HSTS = 'max-age=31536000';

export type Certificate = SecureContextOptions & { cert: string; key: string };

/** Throws UsageError when it cannot be used. */
export async function readCertificate(files: TlsFiles): Promise<Certificate> {
  return requireUsable(await readFiles(files));
}

async function readFiles({ certPath, keyPath }: TlsFiles): Promise<Certificate> {
  const [cert, key] = await Promise.all([read('TLS_CERT', certPath), read('TLS_KEY', keyPath)]);
  return { cert, key, minVersion: 'TLSv1.2' };
}

async function read(name: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${name} cannot be read: ${(error as Error).message}`);
  }
}

function requireUsable(certificate: Certificate): Certificate {
  try {
    createSecureContext(certificate); // which takes an empty file for none at all
    if (!new X509Certificate(certificate.cert).checkPrivateKey(createPrivateKey(certificate.key))) {
      throw new Error('the key is that of another one');
    }
    return certificate;
  } catch (error) {
    throw new UsageError(`TLS_CERT and TLS_KEY are not a certificate and its key: ${(error as Error).message}`);
  }
}

/** Checks the content of the files. As long as the two do not fit together, the certificate in use stays. */
export function followCertificate(
  files: TlsFiles,
  first: Certificate,
  server: Server,
  { observe, everyMs }: { observe: Observe; everyMs: number },
): void {
  let inUse = first;
  /** Seen once, it may be one file of two that was replaced. */
  let fault = { reason: '', times: 0 };
  const timer = setInterval(look, everyMs).unref();
  server.on('close', () => clearInterval(timer));

  async function look(): Promise<void> {
    try {
      const found = await readFiles(files);
      if (found.cert !== inUse.cert || found.key !== inUse.key) {
        server.setSecureContext(requireUsable(found));
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
