// What the browser tells of its machine, for the stream log. Most browsers tell
// a part of it, and over plain HTTP less.

import type { Device } from './logschema';

interface Battery {
  level: number;
  charging: boolean;
}

interface Network extends EventTarget {
  type?: string;
  downlink?: number;
  saveData?: boolean;
}

interface PressureRecord {
  state: string;
}

type PressureObserverType = new (changed: (records: PressureRecord[]) => void) => {
  observe(source: string, options: { sampleInterval: number }): Promise<void>;
  disconnect(): void;
};

type Hinting = Navigator & { connection?: Network; deviceMemory?: number; getBattery?: () => Promise<Battery> };

const pressureEveryMs = 2000;

export class Hints {
  private battery: Battery | null = null;
  private pressure = '';
  private refreshHz = 0;
  /** What the machine was like when it was looked at last, by its part. */
  private before: Record<string, string> | null = null;
  private stop: () => void = () => {};

  constructor() {
    void (navigator as Hinting).getBattery?.().then((b) => (this.battery = b), () => {});
    this.watchPressure();
    void measureRefresh().then((hz) => (this.refreshHz = hz));
  }

  dispose(): void {
    this.stop();
  }

  now(): Device | undefined {
    const d: Device = {};
    if (this.battery) {
      d.battery = this.battery.level;
      d.charging = this.battery.charging;
    }
    if (this.pressure) d.pressure = this.pressure;
    const net = (navigator as Hinting).connection;
    if (net?.type) d.network = net.type;
    if (net?.downlink) d.downlink = net.downlink;
    if (net?.saveData) d.saveData = true;
    if (this.refreshHz) d.refreshHz = this.refreshHz;
    return Object.keys(d).length > 0 ? d : undefined;
  }

  /** What of the machine is another than at the last call, in words; nothing at the first. */
  changes(): string[] {
    const now = this.parts();
    const before = this.before;
    this.before = now;
    if (!before) return [];
    // What was not told before did not change: a browser takes a while to tell.
    return Object.keys(now).filter((name) => before[name] && now[name] && before[name] !== now[name]).map((name) => `${name}: ${now[name]}`);
  }

  private parts(): Record<string, string> {
    return {
      screen: screenWords(),
      network: (navigator as Hinting).connection?.type ?? '',
      power: this.battery ? (this.battery.charging ? 'mains' : 'battery') : '',
    };
  }

  private watchPressure(): void {
    const Observer = (globalThis as { PressureObserver?: PressureObserverType }).PressureObserver;
    if (!Observer) return;
    const o = new Observer((records) => (this.pressure = records.at(-1)?.state ?? ''));
    o.observe('cpu', { sampleInterval: pressureEveryMs }).catch(() => {});
    this.stop = () => o.disconnect();
  }
}

/** What this browser is, for the head of the log. */
export function capabilities(): Record<string, string> {
  const nav = navigator as Hinting;
  const about: Record<string, string> = {
    browser: nav.userAgent,
    screen: screenWords(),
    secure: String(isSecureContext),
    touch: String(nav.maxTouchPoints),
    frames: String('requestVideoFrameCallback' in HTMLVideoElement.prototype),
  };
  if (nav.deviceMemory) about.memory = `${nav.deviceMemory} GB or more`;
  return about;
}

function screenWords(): string {
  return `${screen.width}x${screen.height} at ${devicePixelRatio}`;
}

/** The screen's refresh rate from a few of its frames; 0 while the page is out of sight. */
function measureRefresh(): Promise<number> {
  const times: number[] = [];
  return new Promise((resolve) => {
    const step = (t: number): void => {
      times.push(t);
      if (times.length < 20) requestAnimationFrame(step);
      else resolve(rateOf(times));
    };
    requestAnimationFrame(step);
  });
}

/** The usual distance of the times, as a rate. */
export function rateOf(times: number[]): number {
  const gaps = times.slice(1).map((t, i) => t - (times[i] ?? 0)).sort((a, b) => a - b);
  const usual = gaps[gaps.length >> 1] ?? 0;
  return usual > 0 ? Math.round(1000 / usual) : 0;
}
