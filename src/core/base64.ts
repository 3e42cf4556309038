// Reads standard base64 strictly: bytes have one spelling, so that two texts that differ never say the same.

/** The bytes of a text; null when the text is not exactly how these bytes are written (RFC 4648, section 4). */
export function bytesFromBase64(text: string): Uint8Array | null {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
}

/** Bytes as standard base64. */
export const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
