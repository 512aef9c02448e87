// The scenario as a sentence. Every word that can be changed is a button that opens its choices in place.
import { label_of } from './choose.mjs';
import { h } from './dom.mjs';
import { strategy_of } from './machine.mjs';
import { problems_of } from './problems.mjs';
import { get, is_object } from './scenario.mjs';

/** @typedef {import('./view.mjs').View} View */

/** @param {View} view @returns {Element} */
export function say(view) {
  const { full, n } = view;
  /** @param {string} id @param {string} [text] */
  const word = (id, text) => {
    const control = view.controls.find((row) => row.id === id);
    if (!control) return '';
    const bad = [control, ...view.controls.filter((row) => control.also?.includes(row.id))].find(
      (row) => problems_of(view, row).length > 0,
    );
    return h(
      'button',
      {
        type: 'button',
        class: bad ? 'word wrong' : 'word',
        'data-key': id,
        'data-word': id,
        'data-path': [control, ...view.controls.filter((row) => control.also?.includes(row.id))]
          .flatMap(({ paths }) => paths.map((path) => `scenario.${path}`))
          .join('; '),
        'aria-haspopup': 'dialog',
        'aria-expanded': String(view.ui.open === id),
        'aria-label': `${control.label}: ${text ?? label_of(control, full)}`,
        'aria-describedby': bad ? `problem-${bad.id}` : 'word-keys',
      },
      text ?? shorten(label_of(control, full), 40),
    );
  };
  /** @param {string} path */
  const figure = (path) => {
    const value = get(full, path);
    if (value === undefined || value === null) return '?'; // an address that says something else there
    return typeof value === 'number' ? n.count(value) : shorten(String(value), 16);
  };
  const accumulated = get(full, 'training.gradient_accumulation_steps');
  const clipped = get(full, 'training.max_grad_norm');
  const others = get(full, 'device.other_bytes');
  return h(
    'p',
    { class: 'say', id: 'say' },
    'Fine-tune ',
    word('model', model_name(view)),
    ' with ',
    word('method', method_name(view)),
    ', ',
    word('dtype'),
    ' and ',
    word('autocast'),
    ' on ',
    ranks(view, word),
    whole(word('card', card_name(view)), others ? ',' : ':'),
    others ? [' ', word('others', size_word(view, others)), ' of it taken:'] : '',
    ' ',
    whole('micro-batch ', word('batch', figure('training.per_device_train_batch_size'))),
    ' of ',
    whole(word('length', figure('training.max_length')), ' tokens'),
    full.attention_mask === true ? [' with ', word('mask')] : '',
    accumulated === 1
      ? ''
      : [
          ', ',
          whole(
            word('accumulation', figure('training.gradient_accumulation_steps')),
            ' accumulated',
          ),
        ],
    ', ',
    whole(word('checkpointing'), ','),
    ' ',
    whole(word('attention', attention_name(view)), ','),
    ' ',
    word('optimizer', optimizer_name(view)),
    clipped === 0 ? '' : [' clipped at ', word('clip', figure('training.max_grad_norm'))],
    ', in ',
    whole(word('trainer'), full.keep_outputs === true ? '' : '.'),
    full.keep_outputs === true ? [' with ', whole(word('outputs', 'outputs kept'), '.')] : '',
  );
}

/** "each of 8 with FSDP2, " before the card, where several train together.
 * @param {View} view @param {(id: string, text?: string) => Element | string} word */
function ranks({ full, n }, word) {
  const strategy = strategy_of(full);
  if (strategy === '') return '';
  const size = get(full, 'parallel.world_size') ?? 8;
  const count = typeof size === 'number' ? n.count(size) : shorten(String(size), 16);
  return [
    whole(word('parallel', `${count} ranks, ${shorten(strategy.toUpperCase(), 12)}`), ', '),
    'each with ',
  ];
}

/** @param {string} text @param {number} most characters */
const shorten = (text, most) => (text.length > most ? `${text.slice(0, most)}…` : text);

/** What does not break between lines. @param {(Element | string)[]} pieces */
const whole = (...pieces) => h('span', { class: 'whole' }, ...pieces);

/** @param {View} view */
function model_name({ full, catalog }) {
  if (is_object(full.model))
    return `a pasted ${shorten(String(full.model.model_type ?? 'model'), 24)}`;
  const id = String(full.model);
  return catalog.models.some((model) => model.id === id)
    ? (id.split('/').pop() ?? id)
    : shorten(id, 40);
}

/** "QLoRA, rank 16" @param {View} view */
function method_name({ full, controls, n }) {
  const control = controls.find((row) => row.id === 'method');
  const rank = get(full, 'peft.r');
  const name = control ? label_of(control, full) : '';
  if (full.peft === null || full.peft === undefined || Array.isArray(full.peft)) return name;
  return `${name}, rank ${typeof rank === 'number' ? n.count(rank) : shorten(String(rank), 16)}`;
}

/** @param {View} view */
function card_name({ full, catalog, n }) {
  const total = get(full, 'device.total_bytes');
  if (typeof total === 'number') return `a card with ${n.gib(total)} GiB usable`;
  if (full.card === undefined || full.card === null) return 'any card';
  const wanted = String(full.card);
  const card = catalog.cards.find(({ id }) => id === wanted);
  return `one ${(card?.name ?? shorten(wanted, 40)).replace(/^(GeForce|Tesla) /, '')}`;
}

/** @param {View} view @param {unknown} bytes */
const size_word = ({ n }, bytes) =>
  typeof bytes === 'number' ? `${n.gib(bytes)} GiB` : shorten(String(bytes), 16);

/** @param {View} view */
function attention_name({ full }) {
  const id = String(full.attn_implementation);
  return `${id === 'sdpa' ? 'SDPA' : id} attention`;
}

/** "AdamW, one fused kernel" is said as "AdamW (one fused kernel)", since the sentence has commas of its own.
 * @param {View} view */
function optimizer_name(view) {
  const control = view.controls.find((row) => row.id === 'optimizer');
  return control ? label_of(control, view.full).replace(/, (.*)$/, ' ($1)') : '';
}
