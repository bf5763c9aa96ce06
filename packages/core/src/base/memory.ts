/**
 * Gives zeroed memory for a large table. A driver may give memory that is quicker to reach at random, in huge pages; the core knows
 * no difference.
 */
export type AllocateMemory = (bytes: number) => ArrayBuffer;

export const plainMemory: AllocateMemory = (bytes) => new ArrayBuffer(bytes);
