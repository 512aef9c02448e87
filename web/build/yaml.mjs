// js-yaml's published module as one that the linker knows: its reader alone, as the default export.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const kModule = fileURLToPath(
  new URL('../../node_modules/js-yaml/dist/js-yaml.mjs', import.meta.url),
);

/** The module's text; one that says what is missing where the package is not installed. @returns {string} */
export function yaml_module() {
  if (!existsSync(kModule))
    return `function load() {\n  throw new Error('this build of the page has no YAML reader; give JSON or a command line');\n}\nexport { load as default };\n`;
  const whole = readFileSync(kModule, 'utf8');
  try {
    const options = ['--bundle', '--format=esm', '--charset=utf8', '--loader=js'];
    return execFileSync('esbuild', [...options, `--sourcefile=${kModule}`], {
      input: only_load(whole),
      maxBuffer: 1 << 28,
      stdio: ['pipe', 'pipe', 'pipe'],
    }).toString();
  } catch (error) {
    if (error.code !== 'ENOENT') throw new Error(`esbuild: ${error.stderr}`);
    return only_load(whole);
  }
}

/** @param {string} text */
function only_load(text) {
  const out = text.replace(/^export \{[^}]*\bload\b[^}]*\};?$/m, 'export { load as default };');
  if (out === text) throw new Error('js-yaml.mjs exports no load');
  return out.replace(/^\/\/# sourceMappingURL=.*$/m, '');
}
