import { DEMO_SESSIONS } from '../../../infra/local/identity/identity.ts';
import type { Kernel } from '../kernel/kernel.ts';
import type { Prng } from '../kernel/prng.ts';
import { BASE_URL, NetworkError } from '../places/network.ts';
import type { ParsedJson, Service } from '../places/service.ts';
import type { Actor, Exchange, Expectation, Operation, RequestOptions } from './operation.ts';

/** The clients of a run: each does its operations one after another, all clients at once. */
export interface World {
  readonly exchanges: Exchange[];
  readonly expectations: Expectation[];
  /** The names of those that ran. */
  readonly operations: string[];
}

export interface WorldOptions {
  readonly operations: readonly Operation[];
  readonly actors: number;
  /** Of all actors together. */
  readonly length: number;
  /** Names of operations that do not run: see `Switches`. */
  readonly off: ReadonlySet<string>;
}

export const runWorld = async (kernel: Kernel, service: Service, options: WorldOptions): Promise<World> => {
  const world: World = { exchanges: [], expectations: [], operations: [] };
  const each = Math.ceil(options.length / options.actors);
  const scripts = Array.from({ length: options.actors }, async (_, index) => {
    const actor = createActor(kernel, service, { world, index });
    for (let turn = 1; turn <= each; turn += 1) {
      await actor.wait(actor.prng.int(1, kernel.weather().longestPauseMs));
      const name = `operation ${index + 1}.${turn}`;
      // Drawn although it may be switched off, so that the rest of the script stays the same.
      const prng = kernel.prng(`${actor.name}/${turn}`);
      const possible = options.operations.filter((operation) => operation.possible?.(actor) ?? true);
      const operation = prng.weighted(possible);
      if (prng.chance(kernel.weather().replays)) await replay(kernel, service, prng);
      if (options.off.has(name)) continue;
      kernel.note(`${actor.name}: ${operation.name} (${name})`);
      world.operations.push(name);
      await operation.run({ ...actor, prng, request: actor.as(operation.name) });
    }
  });
  await Promise.all(scripts);
  return world;
};

const STREAM_CONSUMERS = ['workers.publish-changes', 'workers.project-changes'] as const;

const replay = async (kernel: Kernel, service: Service, prng: Prng): Promise<void> => {
  const consumer = prng.pick(STREAM_CONSUMERS);
  kernel.note(`the stream is given to ${consumer} again from its beginning`);
  await service.parts.replayStream(consumer);
};

interface ActorParts {
  readonly world: World;
  readonly index: number;
}

const createActor = (kernel: Kernel, service: Service, { world, index }: ActorParts) => {
  const demo = DEMO_SESSIONS[index % 2] ?? DEMO_SESSIONS[0];
  const actor: Omit<Actor, 'request'> = {
    name: `client ${index + 1}`,
    prng: kernel.prng(`client ${index + 1}`),
    session: demo.session_id,
    memory: { payments: [], records: {} },
    control: service.control,
    wait: (ms) => new Promise((resolve) => void setTimeout(resolve, ms)),
    expect: (expectation) => void world.expectations.push(expectation),
  };
  const as =
    (operation: string): Actor['request'] =>
    async (method, path, given = {}) => {
      const sentAt = kernel.now();
      const sent = {
        method,
        url: `${BASE_URL}${path}`,
        headers: headersOf(actor.session, given),
        body: bodyOf(given.body),
      };
      const answered = await Promise.race([service.send(sent).catch(lostAnswer), givenUp()]);
      const exchange: Exchange = {
        actor: actor.name,
        operation,
        method,
        path,
        sent: given.body,
        idempotencyKey: given.idempotencyKey,
        status: answered.status,
        body: parsed(answered.body),
        sentAt,
        answeredAt: kernel.now(),
      };
      world.exchanges.push(exchange);
      return exchange;
    };
  return { ...actor, as };
};

/** Longer than any function runs. */
const PATIENCE_MS = 70_000;
const NO_ANSWER = { status: 0, body: '' } as const;

const givenUp = (): Promise<typeof NO_ANSWER> =>
  new Promise((resolve) => void setTimeout(() => resolve(NO_ANSWER), PATIENCE_MS).unref());

const lostAnswer = (error: unknown) => {
  if (error instanceof NetworkError) return NO_ANSWER;
  throw error;
};

const headersOf = (session: string, options: RequestOptions): Record<string, string> => ({
  ...(options.body !== undefined && { 'content-type': 'application/json' }),
  ...(!options.anonymous && { 'x-session-id': session }),
  ...(options.guestToken !== undefined && { 'x-guest-token': options.guestToken }),
  ...(options.idempotencyKey !== undefined && { 'idempotency-key': options.idempotencyKey }),
  ...options.headers,
});

const bodyOf = (body: unknown): string => {
  if (body === undefined) return '';
  return typeof body === 'string' ? body : JSON.stringify(body);
};

const parsed = (text: string): ParsedJson => {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
};
