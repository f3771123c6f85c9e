import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as z from 'zod';
import { endpoints, triggers } from '../../functions/api/catalogue.ts';
import type { Catalogue } from '../../infra/local/host/assemble.ts';
import { loadEntry } from '../../infra/local/machine/invoke.ts';
import type { ParsedJson } from './host.ts';

/**
 * A proxy before the event bus: one entry in twenty fails, and runs of publish-changes stop at a call of PutEvents,
 * before or after the call takes effect, at another call each time.
 */
const PUBLISHER = 'workers.publish-changes';
const FAIL_EVERY = 20;
const ENTRIES_A_CALL = 10;

interface Stop {
  readonly step: number;
  readonly executed: boolean;
}

const eventSchema = z.object({ Records: z.array(z.unknown()) });

/** @param steps the calls at which runs end; a batch of ten changes takes one call */
export const openLossyBus = (steps: number) => {
  // The last call first: a retry sends halves of the batch, which take fewer calls.
  const wanted: Stop[] = Array.from({ length: steps }, (_, index) => [
    { step: steps - index, executed: false },
    { step: steps - index, executed: true },
  ]).flat();
  let target = '';
  let entries = 0;
  let failed = 0;
  let step = 0;
  /** The call at which the current run stops. */
  let stop: Stop | undefined;

  const answerTo = async (message: IncomingMessage, body: Buffer): Promise<ParsedJson> => {
    step += 1;
    if (stop?.step !== step) return pass(message, JSON.parse(body.toString()));
    wanted.splice(wanted.indexOf(stop), 1);
    if (stop.executed) await pass(message, JSON.parse(body.toString()));
    return undefined;
  };
  const pass = async (message: IncomingMessage, { Entries }: ParsedJson): Promise<ParsedJson> => {
    const isFailing: boolean[] = Entries.map(() => {
      entries += 1;
      return entries % FAIL_EVERY === 0;
    });
    failed += isFailing.filter(Boolean).length;
    const taken = await forward(
      target,
      message,
      Entries.filter((_: unknown, index: number) => !isFailing[index]),
    );
    return {
      FailedEntryCount: isFailing.filter(Boolean).length,
      Entries: isFailing.map((fails) => (fails ? { ErrorCode: 'ThrottlingException' } : taken.shift())),
    };
  };

  const server = createServer(async (message, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk);
    const answer = await answerTo(message, Buffer.concat(chunks));
    // An answer that no SDK retries: a stopped process does not retry.
    const stopped = '{"__type":"AccessDeniedException","message":"stopped by a test"}';
    response.writeHead(answer ? 200 : 400, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(answer ? JSON.stringify(answer) : stopped);
  });

  /** The service's functions; reports the start of each run of the publisher to the bus. */
  const catalogue: Catalogue = {
    endpoints,
    triggers,
    load: async (id) => {
      const handler = await loadEntry(id);
      if (id !== PUBLISHER) return handler;
      return (event, context) => {
        step = 0;
        const calls = Math.ceil(eventSchema.parse(event).Records.length / ENTRIES_A_CALL);
        // A run after a stopped run succeeds, so that each change is published within its ten retries.
        stop = stop === undefined ? wanted.find((one) => one.step <= calls) : undefined;
        return handler(event, context);
      };
    },
  };
  return {
    catalogue,
    /** @returns the URL that replaces the URL of the bus. */
    start: async (busUrl: string): Promise<string> => {
      target = busUrl;
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    },
    /** Planned stops that have not happened. */
    stopsLeft: () => wanted.length,
    failedEntries: () => failed,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
};

const forward = async (target: string, { headers }: IncomingMessage, Entries: unknown[]): Promise<ParsedJson[]> => {
  if (Entries.length === 0) return [];
  const { 'content-length': _length, host: _host, connection: _connection, ...kept } = headers;
  const answer = await fetch(target, {
    method: 'POST',
    headers: kept as Record<string, string>,
    body: JSON.stringify({ Entries }),
  });
  const body: ParsedJson = await answer.json();
  return body.Entries;
};
