// Where the picture lies in the window. Pure: sizes in, a place out. Box and
// place are in CSS pixels; scale is in device pixels per picture pixel, so that
// 1 means sharp on any screen.

export interface Size {
  width: number;
  height: number;
}

export interface View {
  /** 1 fits the picture into the window. */
  zoom: number;
  /** The point of the picture at the middle of the window, as fractions. */
  x: number;
  y: number;
}

export interface Place {
  left: number;
  top: number;
  width: number;
  height: number;
  /** Device pixels per picture pixel. */
  scale: number;
  /** True at whole scales: the picture is then drawn without smoothing. */
  sharp: boolean;
}

/** A host never sends less than half of either side; its sizes are even, so that a share is off by up to two pixels. */
const leastShare = 0.45;
const roundedPx = 2;

/**
 * The picture that a received one stands for: the source's, when it is the same
 * one made smaller, as a host does whose path is narrow. It is shown, and pointed
 * at, as if it were whole.
 */
export function whole(received: Size, source: Size | null): Size {
  if (!source || received.width > source.width || received.height > source.height) return received;
  const across = received.width / source.width;
  const down = received.height / source.height;
  const off = Math.abs(across - down) * Math.min(source.width, source.height);
  return Math.min(across, down) >= leastShare && off <= roundedPx ? source : received;
}

export const fitted: View = { zoom: 1, x: 0.5, y: 0.5 };

/**
 * A fitted picture up to this much larger than a whole scale is drawn at that
 * scale: a border of a few pixels costs less than blurred text.
 */
const fitSnap = 1.04;
/** A zoomed picture this near to a whole scale is taken to mean it. */
const zoomSnap = 0.01;
/** The largest scale, in device pixels per picture pixel and CSS pixel ratio. */
const maxScale = 8;

export function fitScale(box: Size, picture: Size, dpr: number): number {
  return Math.min((box.width * dpr) / picture.width, (box.height * dpr) / picture.height);
}

function scaleOf(box: Size, picture: Size, dpr: number, zoom: number): number {
  const scale = fitScale(box, picture, dpr) * zoom;
  const down = Math.floor(scale);
  if (zoom === 1) return down >= 1 && scale / down < fitSnap ? down : scale;
  const near = Math.round(scale);
  return near >= 1 && Math.abs(scale - near) / near < zoomSnap ? near : scale;
}

export function place(box: Size, picture: Size, dpr: number, view: View): Place {
  const scale = scaleOf(box, picture, dpr, view.zoom);
  const width = Math.max(1, Math.round(picture.width * scale));
  const height = Math.max(1, Math.round(picture.height * scale));
  return {
    left: offset(Math.round(box.width * dpr), width, view.x) / dpr,
    top: offset(Math.round(box.height * dpr), height, view.y) / dpr,
    width: width / dpr,
    height: height / dpr,
    scale,
    sharp: Number.isInteger(scale),
  };
}

/** The picture's first device pixel along one axis: centred when it is smaller. */
function offset(box: number, length: number, center: number): number {
  if (length <= box) return Math.floor((box - length) / 2);
  return clamp(Math.round(box / 2 - center * length), box - length, 0) || 0; // Never -0.
}

export interface Spotted {
  x: number;
  y: number;
  inside: boolean;
}

/** The picture's pixel under a point of the window, held inside the picture. */
export function toPicture(p: Place, picture: Size, px: number, py: number): Spotted {
  const x = ((px - p.left) / p.width) * picture.width;
  const y = ((py - p.top) / p.height) * picture.height;
  const inside = x >= 0 && y >= 0 && x < picture.width && y < picture.height;
  return { x: clamp(x, 0, picture.width - 1), y: clamp(y, 0, picture.height - 1), inside };
}

/** The zoom that gives one device pixel per picture pixel. */
export function actualZoom(box: Size, picture: Size, dpr: number): number {
  return 1 / fitScale(box, picture, dpr);
}

export function zoomed(view: View): boolean {
  return view.zoom > 1.001;
}

/** Zooms by factor and keeps the picture's point under (px, py) where it is. */
export function zoomAt(box: Size, picture: Size, dpr: number, view: View, factor: number, px: number, py: number): View {
  const fit = fitScale(box, picture, dpr);
  const least = Math.min(1, 1 / fit);
  const most = Math.max(1, (maxScale * dpr) / fit);
  let zoom = clamp(view.zoom * factor, least, most);
  if (Math.abs(zoom - 1) < 0.02) zoom = 1;
  const before = place(box, picture, dpr, view);
  const after = place(box, picture, dpr, { zoom, x: 0.5, y: 0.5 });
  const fx = (px - before.left) / before.width;
  const fy = (py - before.top) / before.height;
  return settle(box, after, {
    zoom,
    x: fx + (box.width / 2 - px) / after.width,
    y: fy + (box.height / 2 - py) / after.height,
  });
}

/** Moves the picture by CSS pixels, as far as its edges allow. */
export function panBy(box: Size, picture: Size, dpr: number, view: View, dx: number, dy: number): View {
  const p = place(box, picture, dpr, view);
  return settle(box, p, { zoom: view.zoom, x: view.x - dx / p.width, y: view.y - dy / p.height });
}

/** Shows the part of a zoomed picture that corresponds to a point of the window. */
export function follow(box: Size, picture: Size, dpr: number, view: View, px: number, py: number): View {
  const p = place(box, picture, dpr, view);
  return {
    zoom: view.zoom,
    x: along(box.width, p.width, px),
    y: along(box.height, p.height, py),
  };
}

function along(box: number, length: number, at: number): number {
  if (length <= box) return 0.5;
  const room = (box / 2) / length;
  return room + clamp(at / box, 0, 1) * (1 - 2 * room);
}

/** Keeps the middle of the view where the picture's edges meet the window's. */
function settle(box: Size, p: Place, view: View): View {
  const hold = (center: number, room: number, length: number): number => {
    if (length <= room) return 0.5;
    const half = room / 2 / length;
    return clamp(center, half, 1 - half);
  };
  return { zoom: view.zoom, x: hold(view.x, box.width, p.width), y: hold(view.y, box.height, p.height) };
}

export function clamp(v: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, v));
}
