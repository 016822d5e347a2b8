/** The words that a kernel begins with, wherever they stand; the server looks closer. */

const WORDS = /__kernel|kernel(?=[\s\\"'])[nt"'\s\\8uULRrbBfF]*(?:void|__attribute__)/;

export function namesKernel(text: string): boolean {
  return text.includes('kernel') && WORDS.test(text);
}
