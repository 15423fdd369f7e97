/** What a browser can show and most models accept. */
export const IMAGE_TYPES = 'image/png,image/jpeg,image/webp,image/gif';

/** Larger ones are refused by most upstreams. */
export const IMAGE_BYTES_MAX = 5_000_000;

/** A file as a data URL. */
export function dataUrlOf(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () =>
      typeof reader.result === 'string' ? resolve(reader.result) : reject(new Error(file.name)),
    );
    reader.addEventListener('error', () => reject(new Error(file.name)));
    reader.readAsDataURL(file);
  });
}
