// Names that every system takes, so that what is restored on Windows is not lost to a colon.

/** A name that Windows takes, too. */
export function safeName(name: string): string {
  const replaced = name
    .replace(/[\\/:*?"<>|\u0000-\u001f\u007f]/g, '_')
    .replace(/[\u202a-\u202e\u2066-\u2069]/g, '_')
    .replace(/[. ]+$/, (end) => '_'.repeat(end.length))
  if (replaced === '') return '_'
  return DEVICES.test(replaced) ? `_${replaced}` : replaced
}

/** The same name with a number in it. */
export function numbered(name: string, number: number): string {
  return name.replace(/(\.[^.]{1,12})?$/, (ending) => ` (${number})${ending}`)
}

const DEVICES = /^(con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³])(\.|$)/i

/** Names that were given out in one folder, which differ in more than their case. */
export class Names {
  #given = new Map<string, string>()
  #taken = new Set<string>()

  /** The name for one of the archive; always the same for the same. */
  of(name: string): string {
    const known = this.#given.get(name)
    if (known !== undefined) return known
    return this.give(name, safeName(name))
  }

  /** Gives a name out, or a numbered one if another has it. */
  give(name: string, wanted: string): string {
    let free = wanted
    for (let number = 2; this.#taken.has(fold(free)); number += 1) free = numbered(wanted, number)
    this.#taken.add(fold(free))
    this.#given.set(name, free)
    return free
  }
}

/** What makes names equal on systems that don't tell case or normal forms apart. */
function fold(name: string): string {
  return name.normalize('NFC').toLowerCase()
}
