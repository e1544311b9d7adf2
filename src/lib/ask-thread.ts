// Requests with a reply between two threads.

import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads';

/** Sends a message with a port for the reply, and returns the reply. Throws if the other thread ends before it. */
export function askThread<Reply>(thread: Pick<MessagePort | Worker, 'postMessage'>, message: object): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const { port1, port2 } = new MessageChannel();
    port1.on('message', (reply) => {
      resolve(reply);
      port1.close();
    });
    port1.on('close', () => reject(new Error('The thread ended before its reply')));
    thread.postMessage({ ...message, reply: port2 }, [port2]);
  });
}
