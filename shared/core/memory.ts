/**
 * The memory of functions in MB. Lambda gives a function a share of a processor in proportion, a whole one at 1,769 MB.
 * The measured processor times are in docs/performance.md ("Processor time", "Memory").
 */
export const MEMORY_MB = {
  /** Background work, for which no person waits: at 14 % of a processor, a function and Stripe's SDK (30 ms) load in 0.2 s. */
  background: 256,
  /** A person waits: at 29 % of a processor, a function loads (22 ms) in 0.08 s, and a warm read (0.3 ms) takes 1 ms. */
  request: 512,
  /** A payer waits for a charge: at 58 %, function and SDK load in 0.05 s, and a warm create (2 ms) takes 4 ms. */
  payment: 1_024,
} as const;

export type MemoryMb = (typeof MEMORY_MB)[keyof typeof MEMORY_MB];
