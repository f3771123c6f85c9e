import type { Actor, Exchange } from '../operation.ts';

const MOST_TRIES = 4;

/** As a careful client does: sends the same request again while its outcome is unknown or the service says "later". */
export const untilAnswered = async (actor: Actor, send: () => Promise<Exchange>): Promise<Exchange> => {
  for (let tries = 1; ; tries += 1) {
    const answered = await send();
    const isFinal = answered.status > 0 && answered.status < 500 && answered.status !== 409 && answered.status !== 429;
    if (isFinal || tries === MOST_TRIES || actor.prng.chance(0.2)) return answered;
    await actor.wait(actor.prng.int(50, 3_000));
  }
};
