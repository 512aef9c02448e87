// Plain text for LaTeX.

const kSpecial = /** @type {{[character: string]: string}} */ ({
  '\\': '\\textbackslash{}',
  '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}',
  '×': '$\\times$',
  '·': '$\\cdot$',
  '−': '$-$',
  '→': '$\\to$',
});
/** Plain text for LaTeX. @param {string} text */
export const in_latex = (text) =>
  text.replace(/[\\~^×·−→{}&%$#_]/g, (one) => kSpecial[one] ?? `\\${one}`);
