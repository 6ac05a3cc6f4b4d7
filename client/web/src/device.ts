// Words about this browser and its codes. Pure.

/** A name that a person recognises in a list of paired devices. */
export function deviceName(userAgent: string): string {
  const system = first(userAgent, [
    [/iPhone/, 'iPhone'],
    [/iPad/, 'iPad'],
    [/Android [\d.]+; ([^;)]+?)(?: Build\/[^;)]*)?[;)]/, '$1'],
    [/Android/, 'Android'],
    [/CrOS/, 'Chromebook'],
    [/Macintosh/, 'Mac'],
    [/Windows/, 'Windows'],
    [/Linux|X11/, 'Linux'],
  ]);
  const browser = first(userAgent, [
    [/Edg\w*\//, 'Edge'],
    [/Firefox\/|FxiOS\//, 'Firefox'],
    [/OPR\//, 'Opera'],
    [/SamsungBrowser\//, 'Samsung Internet'],
    [/Chrom\w*\/|CriOS\//, 'Chrome'],
    [/Safari\//, 'Safari'],
  ]);
  // Android hides the model behind "K" since Chrome 110.
  const name = system === 'K' ? 'Android' : system;
  if (browser && name) return `${browser} on ${name}`;
  return browser || name || 'Browser';
}

function first(text: string, rules: [RegExp, string][]): string {
  for (const [pattern, name] of rules) {
    const found = pattern.exec(text);
    if (found) return name.replace('$1', found[1] ?? '').trim();
  }
  return '';
}

/** Shows up to six digits of what was typed as 123-456. */
export function formatCode(typed: string): string {
  const digits = typed.replace(/\D/g, '').slice(0, 6);
  return digits.length > 3 ? `${digits.slice(0, 3)}-${digits.slice(3)}` : digits;
}

export function completeCode(code: string): boolean {
  return /^\d{3}-\d{3}$/.test(code);
}

/** The code in an address such as /#pair=123456, or "". */
export function codeOf(hash: string): string {
  const found = /[#&/]pair=([\d-]+)/.exec(hash);
  const code = formatCode(found?.[1] ?? '');
  return completeCode(code) ? code : '';
}

/** The source named by #/watch/{id}, or "". */
export function sourceOf(hash: string): string {
  const found = /^#\/watch\/(.+)$/.exec(hash);
  if (!found?.[1]) return '';
  try {
    return decodeURIComponent(found[1]);
  } catch {
    return '';
  }
}

export function watchHash(id: string): string {
  return `#/watch/${encodeURIComponent(id)}`;
}
