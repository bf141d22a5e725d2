const SYSTEM_FOLDER = /^\/(?:usr\/local\/bin|usr\/bin|bin|usr\/sbin|sbin)\/(?=[^/]+$)/;

/** The name of a program found on the search path or in a system folder; undefined for other programs. */
export function systemName(text: string): string | undefined {
  const name = text.replace(SYSTEM_FOLDER, '');
  return name.includes('/') ? undefined : name;
}

export function baseName(text: string): string {
  return text.slice(text.lastIndexOf('/') + 1);
}
