// Reads Chromium's traces: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU

import type { Browser, Page } from '@playwright/test';

interface TraceEvent {
  name: string;
  cat: string;
  pid: number;
  tid: number;
  /** Microseconds. */
  ts: number;
  dur?: number;
  /** Microseconds of the thread's own time. */
  tdur?: number;
  args: { data?: { type?: string; requestId?: string; url?: string }; name?: string };
}

const CATEGORIES = ['devtools.timeline', 'disabled-by-default-devtools.timeline', 'blink.user_timing', 'toplevel', '__metadata'];

export class Trace {
  private constructor(private readonly events: TraceEvent[]) {}

  /** Records what happens while `work` goes on. */
  static async of(browser: Browser, page: Page, work: () => Promise<void>): Promise<Trace> {
    await browser.startTracing(page, { categories: CATEGORIES });
    await work();
    const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
    return new Trace(traceEvents.sort((a, b) => a.ts - b.ts));
  }

  private first(isWanted: (event: TraceEvent) => boolean, what: string): TraceEvent {
    const found = this.events.find(isWanted);
    if (!found) throw new Error(`the trace has no ${what}`);
    return found;
  }

  click(): number {
    return this.first(({ name, args }) => name === 'EventDispatch' && args.data?.type === 'click', 'click').ts;
  }

  /** The first bytes of the body of a response. */
  firstByte(path: string): number {
    const sent = this.first(({ name, args }) => name === 'ResourceSendRequest' && Boolean(args.data?.url?.endsWith(path)), `request of ${path}`);
    const { requestId } = sent.args.data ?? {};
    return this.first(({ name, args }) => name === 'ResourceReceivedData' && args.data?.requestId === requestId, `answer of ${path}`).ts;
  }

  mark(name: string): TraceEvent {
    return this.first((event) => event.name === name && event.cat.includes('blink.user_timing'), `mark ${name}`);
  }

  /** When what a mark stands for was painted, by the mark's process. */
  paintedAfter(name: string): number {
    const mark = this.mark(name);
    const { ts, dur = 0 } = this.first((event) => event.name === 'Paint' && event.pid === mark.pid && event.ts >= mark.ts, `paint after ${name}`);
    return ts + dur;
  }

  /** What the main thread of the page computed between two times. */
  mainThread(from: number, to: number): number {
    const names = this.events.filter(({ name, cat }) => name === 'thread_name' && cat === '__metadata');
    const { pid } = this.mark('bookrag:text');
    const main = names.find((event) => event.pid === pid && event.args.name === 'CrRendererMain');
    if (!main) throw new Error('the trace has no main thread');
    const isTask = ({ name }: TraceEvent) => name === 'RunTask' || name === 'ThreadControllerImpl::RunTask';
    const tasks = this.events.filter((event) => event.pid === pid && event.tid === main.tid && isTask(event) && event.ts >= from && event.ts <= to);
    const names_ = new Set(tasks.map(({ name }) => name));
    // A trace may have both, one nested in the other.
    const name = names_.has('RunTask') ? 'RunTask' : 'ThreadControllerImpl::RunTask';
    return tasks.filter((event) => event.name === name).reduce((sum, { tdur, dur = 0 }) => sum + (tdur ?? dur), 0);
  }
}
