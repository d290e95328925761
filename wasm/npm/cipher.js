// Web Crypto's AES-CBC, for the module.

/** Sessions whose keys are kept; every run of a client has its own. */
const KEPT_KEYS = 64

export class Cipher {
  #keys = new Map()

  /** Undefined where there is no Web Crypto, as in pages that are neither from localhost nor over https. */
  static ofPlatform() {
    return globalThis.crypto?.subtle && new Cipher()
  }

  knows(session) {
    return this.#keys.has(session)
  }

  learn(session, key) {
    const imported = crypto.subtle.importKey('raw', key, 'AES-CBC', false, ['decrypt'])
    imported.catch(() => {}).finally(() => key.fill(0))
    if (this.#keys.size >= KEPT_KEYS) this.#keys.delete(this.#keys.keys().next().value)
    this.#keys.set(session, imported)
  }

  /** What the data decrypts to, without its padding. */
  async decrypt(session, iv, data) {
    return crypto.subtle.decrypt({ name: 'AES-CBC', iv }, await this.#keys.get(session), data)
  }
}
