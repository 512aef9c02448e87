// js-yaml's reader, which the build puts beside the page's modules (web/build/yaml.mjs).
export default function load(
  text: string,
  options?: { maxDepth?: number; maxAliases?: number },
): unknown;
