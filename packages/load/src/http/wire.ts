/** A connection to the endpoint as its user sees it, whatever carries the bytes. */

export interface Wire {
  /** Takes a copy of bytes[start, end). `asksDrain`: the owner hears `onDrain` when they have left. */
  write(bytes: Buffer, start: number, end: number, asksDrain: boolean): void;
  /** Ends the connection at once. The owner hears nothing more of it. */
  destroy(): void;
}

export interface WireOwner {
  onOpen(): void;
  /** Valid during the call. */
  onBytes(bytes: Buffer, start: number, end: number): void;
  onDrain(): void;
  /** The connection is over, or was never made; `error` is the error's code, '' when the server closed it in order. */
  onGone(error: string): void;
}

/** Starts connecting. The owner hears `onOpen` or `onGone`, never out of this call. */
export type OpenWire = (owner: WireOwner) => Wire;
