/**
 * Times the frames of a hit on a link: a read request written and read again, as a gateway and a node do for every piece, and the
 * bare frame header that each answer begins with. `node frame.bench.ts [FRAMES]`.
 *
 * The result hash follows from what was read.
 */
import { mix32 } from '@s3-accelerator/core/base/hash.ts';
import { nanoseconds, printFigures } from '@s3-accelerator/core/base/stopwatch.bench.ts';
import { newReadRequest } from '@s3-accelerator/core/read.ts';
import {
  decodeFrameHeader,
  encodeFrameHeader,
  frameHeaderBytes,
  FrameType,
  newFrameHeader,
} from './frame.ts';
import { encodeReadRequest, ReadRequestView, readRequestBound } from './read-request.ts';

export interface FrameFigures {
  /** Nanoseconds for a request of a block of one object. */
  readonly writeRequest: number;
  readonly readRequest: number;
  /** For a frame header alone, written and read. */
  readonly header: number;
  readonly resultHash: number;
}

/** Writes and reads `frames` of each. */
export function measureFrames(frames: number): FrameFigures {
  const request = newReadRequest();
  request.kind = 'blocks';
  request.bucket = 'a-bucket';
  request.key = 'tables/lineitem/part-00017.parquet';
  request.etag = '"0123456789abcdef0123456789abcdef"';
  request.size = 256 << 20;
  const bytes = new Uint8Array(readRequestBound(request));
  const header = newFrameHeader();
  const view = new ReadRequestView();
  let end = 0;
  let resultHash = 0;
  const write = (i: number): void => {
    request.first = (i & 0xff) << 20;
    request.last = request.first + 4095;
    request.partLast = request.last;
    request.hash.h0 = i;
    end = encodeReadRequest(bytes, 0, i, request);
  };
  const read = (): void => {
    decodeFrameHeader(bytes, 0, header);
    if (view.decode(bytes, frameHeaderBytes, end, header) !== null) throw new Error('refused');
    resultHash = mix32(resultHash ^ view.hash.h0 ^ view.first ^ header.requestId);
  };
  const both = (): number =>
    nanoseconds(frames, (i) => {
      write(i);
      read();
    });
  both();
  const writeRequest = nanoseconds(frames, write);
  const readRequest = nanoseconds(frames, read);
  both();
  const bare = (): number =>
    nanoseconds(frames, (i) => {
      encodeFrameHeader(bytes, 0, FrameType.answerBytes, 0, i, 0, 4096, 7);
      decodeFrameHeader(bytes, 0, header);
      resultHash = mix32(resultHash ^ header.requestId ^ header.bodyLength);
    });
  bare();
  return { writeRequest, readRequest, header: bare(), resultHash: resultHash >>> 0 };
}

if (import.meta.main) printFigures(measureFrames(Number(process.argv[2] ?? 1_000_000)));
