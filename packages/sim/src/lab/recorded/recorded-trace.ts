/** A trace that somebody wrote down: a CSV file or an S3 access log, told apart by the first line. */
import type { Trace, TraceRead } from '../trace.ts';
import { AccessLogReader, looksLikeAccessLog } from './access-log.ts';
import { CsvReader, looksLikeCsv } from './csv.ts';
import { linesOf } from './lines.ts';
import { TraceError } from './trace-error.ts';
import { Versions } from './versions.ts';

/** The file's reads. Iterating throws a TraceError that names the line of what can't be read. */
export function recordedTrace(path: string, capacityBytes: number): Trace {
  return {
    name: path,
    about: 'recorded',
    capacityBytes,
    *reads(): Generator<TraceRead> {
      const versions = new Versions();
      let reader: CsvReader | AccessLogReader | null = null;
      let line = 0;
      let reads = 0;
      for (const whole of linesOf(path)) {
        line += 1;
        const text = line === 1 ? whole.replace(/^\uFEFF/, '') : whole;
        reader ??= readerFor(path, text, line, versions);
        const read = reader?.read(text, line) ?? null;
        if (read === null) continue;
        if (versions.isFull)
          throw new TraceError(path, line, 'more objects than the lab can number');
        reads += 1;
        yield read;
      }
      if (reads === 0) throw new TraceError(path, 0, 'there is no read in it');
    },
  };
}

/** By the first line that isn't empty; null for an empty one. */
function readerFor(
  path: string,
  text: string,
  line: number,
  versions: Versions,
): CsvReader | AccessLogReader | null {
  if (text === '') return null;
  if (looksLikeCsv(text)) return new CsvReader(path, versions);
  if (looksLikeAccessLog(text)) return new AccessLogReader(path, versions);
  throw new TraceError(path, line, "neither 'time,key,size,offset,length' nor an S3 access log");
}
