/** The lines of a file, one at a time: traces may be larger than memory. */
import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { TraceError } from './trace-error.ts';

const PIECE_BYTES = 1 << 20;
/** A trace's lines are a few hundred bytes: something longer is no trace. */
const MAX_LINE = 64 * 1024;

/** Every line without its end; a last one may lack it. */
export function* linesOf(path: string): Generator<string> {
  const file = openForReading(path);
  try {
    const piece = new Uint8Array(PIECE_BYTES);
    const decoder = new StringDecoder('utf8');
    let rest = '';
    let line = 0;
    for (;;) {
      const bytes = readPiece(path, file, piece);
      const text = rest + (bytes === 0 ? decoder.end() : decoder.write(piece.subarray(0, bytes)));
      let start = 0;
      for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
        line += 1;
        yield text.slice(start, text[end - 1] === '\r' ? end - 1 : end);
        start = end + 1;
      }
      rest = text.slice(start);
      if (rest.length > MAX_LINE) throw new TraceError(path, line + 1, 'the line is too long');
      if (bytes === 0) break;
    }
    if (rest !== '') yield rest;
  } finally {
    closeSync(file);
  }
}

function openForReading(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    throw new TraceError(path, 0, `can't be opened (${codeOf(error)})`);
  }
}

function readPiece(path: string, file: number, piece: Uint8Array): number {
  try {
    return readSync(file, piece);
  } catch (error) {
    throw new TraceError(path, 0, `can't be read (${codeOf(error)})`);
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}
