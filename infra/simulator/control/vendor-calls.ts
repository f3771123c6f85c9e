/** @module Calls of a vendor's own API within a unit of work, as the vendor's dashboard would send them. */
import * as z from 'zod';
import type { Unit } from '../ledger/unit.ts';
import { type Answer, Refused } from '../protocol/vendor.ts';
import { ControlError, type ControlParts } from './control-call.ts';

export interface VendorCalls {
  /** @throws ControlError with the vendor's refusal. Then nothing is committed. */
  send(path: string, form: URLSearchParams): void;
  /** @returns the id of the new object */
  create(path: string, form: URLSearchParams): string;
  /** @returns a committed refusal, such as a decline; undefined after success. @throws like `send`. */
  attempt(path: string, form: URLSearchParams): Refusal | undefined;
}

interface Refusal {
  readonly status: number;
  readonly message: string;
}

export const vendorCalls = ({ vendors, options }: ControlParts, unit: Unit): VendorCalls => {
  const vendor = vendors.find(({ adapter }) => adapter === options.slots[unit.slot].adapter);
  if (!vendor) throw new ControlError(400, `${unit.slot} has no vendor here`);
  const execute = (path: string, form: URLSearchParams): Answer => {
    const call = { method: 'POST', path, query: new URLSearchParams(), headers: new Headers(), body: form.toString() };
    try {
      return vendor.execute(call, { slot: unit.slot, kind: 'adapter' }, unit);
    } catch (error) {
      if (error instanceof Refused) throw new ControlError(409, messageOf(error.answer));
      throw error;
    }
  };
  const succeed = (path: string, form: URLSearchParams): Answer => {
    const answer = execute(path, form);
    if (answer.status >= 400) throw new ControlError(answer.status, messageOf(answer));
    return answer;
  };
  return {
    send: (path, form) => {
      succeed(path, form);
    },
    create: (path, form) => z.object({ id: z.string() }).parse(JSON.parse(succeed(path, form).body)).id,
    attempt: (path, form) => {
      const answer = execute(path, form);
      return answer.status < 400 ? undefined : { status: answer.status, message: messageOf(answer) };
    },
  };
};

const problem = z.object({ error: z.object({ message: z.string() }) });

const messageOf = ({ body }: Answer): string => problem.parse(JSON.parse(body)).error.message;
