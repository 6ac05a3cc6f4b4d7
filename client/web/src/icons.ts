// The page's icons: strokes on a 24 by 24 field.

import { shape } from './svg';

const paths = {
  back: 'M15 5l-7 7 7 7',
  sources: 'M4 5h7v6H4zM13 5h7v6h-7zM4 13h7v6H4zM13 13h7v6h-7z',
  keyboard: 'M3 7h18v10H3zM7 10.5h.01M10.3 10.5h.01M13.7 10.5h.01M17 10.5h.01M8 14h8',
  keys: 'M4 8.5a2 2 0 012-2h4v11H6a2 2 0 01-2-2zM14 6.5h4a2 2 0 012 2v7a2 2 0 01-2 2h-4zM7 12h.01M17 12h.01',
  full: 'M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5',
  unfull: 'M9 4v5H4M15 4v5h5M9 20v-5H4M15 20v-5h5',
  stats: 'M5 19v-6M10 19V5M15 19v-9M20 19v-4',
  report: 'M12 4v10M8 10.5l4 4 4-4M5 16v4h14v-4',
  help: 'M9.2 9.2a2.9 2.9 0 115 2c-.9.9-2.2 1.4-2.2 2.8M12 17.5h.01',
  zoom: 'M6 6v12M18 6v12M12 10h.01M12 14h.01',
  fit: 'M4 6h16v12H4zM9 10h6v4H9z',
  side: 'M4 5h16v14H4zM10 5v14M15.5 9.5L13 12l2.5 2.5',
  close: 'M6 6l12 12M18 6L6 18',
  more: 'M6 12h.01M12 12h.01M18 12h.01',
  screen: 'M3 5h18v11H3zM9 20h6M12 16v4',
  window: 'M4 5h16v14H4zM4 9h16M7 7h.01',
  left: 'M19 12H5M11 6l-6 6 6 6',
  right: 'M5 12h14M13 6l6 6-6 6',
  up: 'M12 19V5M6 11l6-6 6 6',
  down: 'M12 5v14M6 13l6 6 6-6',
};

export type IconName = keyof typeof paths;

export function icon(name: IconName): SVGSVGElement {
  return shape('svg', { viewBox: '0 0 24 24', class: 'icon', 'aria-hidden': 'true' }, shape('path', { d: paths[name] }));
}

/** Two panes, one in front of the other. */
export function mark(): SVGSVGElement {
  const pane = (at: number, kind: string): SVGRectElement => shape('rect', { x: at, y: at, width: 14, height: 14, rx: 3.5, class: kind });
  return shape('svg', { viewBox: '0 0 24 24', class: 'mark', 'aria-hidden': 'true' }, pane(2, 'behind'), pane(8, 'front'));
}
