/** What the kernel counts for the whole machine: CPU time, network, TCP's troubles. From /proc and, where there is one, the card. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Each counts from the machine's start. CPU in ticks of all cores. */
export interface HostCounters {
  readonly busyTicks: number;
  readonly allTicks: number;
  readonly receivedBytes: number;
  readonly sentBytes: number;
  readonly sentSegments: number;
  readonly retransmittedSegments: number;
  readonly tcpTimeouts: number;
  readonly droppedPackets: number;
  readonly backlogDrops: number;
}

/** Columns of /proc/stat's first line, behind its name. */
const idleColumns = [3, 4];
/** Guest time is within user time already. */
const timeColumns = 8;

/** `null` when this kernel's /proc can't be read so. */
export function readHostCounters(): HostCounters | null {
  try {
    const ticks = readFileSync('/proc/stat', 'utf8').split('\n')[0]!.trim().split(/\s+/).slice(1);
    const times = ticks.slice(0, timeColumns).map(Number);
    const all = times.reduce((sum, time) => sum + time, 0);
    const idle = idleColumns.reduce((sum, column) => sum + (times[column] ?? 0), 0);
    const snmp = namedCounters('/proc/net/snmp', 'Tcp');
    const netstat = namedCounters('/proc/net/netstat', 'TcpExt');
    return {
      busyTicks: all - idle,
      allTicks: all,
      ...interfaceTotals(),
      sentSegments: snmp.get('OutSegs') ?? 0,
      retransmittedSegments: snmp.get('RetransSegs') ?? 0,
      tcpTimeouts: netstat.get('TCPTimeouts') ?? 0,
      backlogDrops: softnetDrops(),
    };
  } catch {
    return null;
  }
}

/** Two lines that begin alike: names, then values. */
function namedCounters(file: string, name: string): Map<string, number> {
  const lines = readFileSync(file, 'utf8').split('\n');
  const [names = [], values = []] = lines
    .filter((line) => line.startsWith(`${name}: `))
    .map((line) => line.split(/\s+/));
  return new Map(names.map((each, at) => [each, Number(values[at])]));
}

/** Of all interfaces, loopback among them: a run on one machine uses nothing else. */
function interfaceTotals() {
  let [receivedBytes, sentBytes, droppedPackets] = [0, 0, 0];
  for (const line of readFileSync('/proc/net/dev', 'utf8').split('\n').slice(2)) {
    const columns = line
      .slice(line.indexOf(':') + 1)
      .trim()
      .split(/\s+/)
      .map(Number);
    receivedBytes += columns[0] ?? 0;
    sentBytes += columns[8] ?? 0;
    droppedPackets += (columns[3] ?? 0) + (columns[11] ?? 0);
  }
  return { receivedBytes, sentBytes, droppedPackets };
}

/** Packets that a core's backlog had no room for. */
function softnetDrops(): number {
  const lines = readFileSync('/proc/net/softnet_stat', 'utf8').trim().split('\n');
  return lines.reduce((sum, line) => sum + parseInt(line.split(/\s+/)[1] ?? '0', 16), 0);
}

/**
 * Counters of the network cards that tell of loss or of limits (a cloud's allowances), by `interface name`, where `ethtool`
 * is installed; empty elsewhere.
 */
export function readCardCounters(): ReadonlyMap<string, number> {
  const counters = new Map<string, number>();
  const names = readFileSync('/proc/net/dev', 'utf8')
    .split('\n')
    .slice(2)
    .map((line) => line.split(':')[0]!.trim());
  for (const name of names.filter((each) => each !== '' && each !== 'lo')) {
    const { stdout, status } = spawnSync('ethtool', ['-S', name], { encoding: 'utf8' });
    if (status !== 0) continue;
    for (const [, counter, value] of stdout.matchAll(/^\s+([^:\n]+): (\d+)$/gm)) {
      if (/drop|exceeded|err|miss|discard/i.test(counter!)) {
        counters.set(`${name} ${counter!.trim()}`, Number(value));
      }
    }
  }
  return counters;
}
