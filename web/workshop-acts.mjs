// What people do in the workshop: draw, type and pick a guess, compare, go on, print; the keys of the presenter's view.
import { found } from './commands.mjs';
import { is_complete } from './check.mjs';
import { read_code, read_size, write_place } from './course.mjs';
import { kStops } from './guess.mjs';

/** @typedef {import('./exercise.mjs').Exercise} Exercise */

/**
 * @typedef {object} Play
 * @property {import('./number.mjs').Numbers} n
 * @property {{typing: string | null, trouble: string | null, copied: string | null}} now
 * @property {() => void} render
 * @property {() => Exercise | null} current
 * @property {(number: number) => import('./workshop.mjs').Try} try_of
 * @property {() => import('./course.mjs').Place} place
 * @property {() => number} count_slides
 * @property {(shown: Exercise) => void} reached
 * @property {() => void} forget */

/** @param {HTMLElement} root @param {Play} play */
export function workshop_acts(root, play) {
  const { n, now } = play;
  const focus = (/** @type {string} */ selector) => {
    const element = root.querySelector(selector);
    if (element instanceof HTMLElement) element.focus();
  };

  /** @param {string} key @param {number} bytes */
  function set(key, bytes) {
    const shown = play.current();
    if (!shown?.known) return;
    const tried = play.try_of(shown.number);
    tried.guess = { ...tried.guess, [key]: Math.max(0, bytes) };
    now.trouble = null;
    play.render();
  }

  /** @param {boolean} guessed */
  function reveal(guessed) {
    const shown = play.current();
    if (!shown?.known) return;
    const tried = play.try_of(shown.number);
    if (guessed && !is_complete(shown, tried.guess)) {
      now.trouble = shown.amounts
        ? 'A guess is missing: draw or type one for each.'
        : 'Choose one first.';
      return play.render();
    }
    if (!guessed) tried.guess = {};
    // The field that is about to go says now, not while it goes, that it has changed.
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    Object.assign(now, { trouble: null, typing: null });
    tried.revealed = true;
    if (guessed) play.reached(shown);
    play.render();
    focus('#result');
  }

  /** @param {number} by slides */
  function turn(by) {
    const place = play.place();
    const slide = Math.max(0, Math.min(play.count_slides() - 1, place.slide + by));
    if (slide === place.slide) return;
    place.slide = slide;
    history.replaceState(null, '', write_place(place));
    play.render();
    scrollTo({ top: 0 });
    focus('h1');
  }

  const acts = /** @type {{[act: string]: () => void}} */ ({
    reveal: () => reveal(true),
    show: () => reveal(false),
    again() {
      const shown = play.current();
      if (!shown) return;
      play.try_of(shown.number).revealed = false;
      play.render();
      focus('.guess input');
    },
    on: () => turn(1),
    back: () => turn(-1),
    print: () => print(),
    code: open_code,
    forget() {
      play.forget();
      play.render();
      focus('h1');
    },
    copy() {
      const { origin, pathname, protocol } = location;
      const base = protocol === 'file:' ? location.href.split('#')[0] : origin + pathname;
      const shown = play.current();
      const place = { ...play.place(), scene: /** @type {const} */ ('exercise'), answer: null };
      void navigator.clipboard.writeText(base + write_place(shown ? place : {})).then(
        () => say_copied('Copied'),
        () => say_copied('This browser does not let the page copy'),
      );
    },
  });
  /** @param {string} text */
  function say_copied(text) {
    now.copied = text;
    play.render();
    setTimeout(() => {
      now.copied = null;
      play.render();
    }, 1600);
  }

  function open_code() {
    const field = root.querySelector('#code');
    const text = field instanceof HTMLInputElement ? field.value : '';
    const whole = text.match(/#(workshop\S*)/);
    if (whole) return void (location.hash = whole[1]);
    const code = read_code(text);
    if (code.example === null) {
      now.trouble = 'That is not a code.';
      return play.render();
    }
    location.hash = write_place(code);
  }

  root.addEventListener('click', (event) => {
    const act = found(event, 'do');
    if (act?.[0].getAttribute('aria-disabled') === 'true') return;
    if (act) acts[act[1]]?.();
  });

  root.addEventListener('input', (event) => {
    const { target } = event;
    if (!(target instanceof HTMLInputElement)) return;
    const { amount, typed } = target.dataset;
    if (amount !== undefined) {
      now.typing = null;
      set(amount, (Number(target.value) / kStops) * (play.current()?.top ?? 0));
    } else if (typed !== undefined) {
      now.typing = typed;
      const bytes = read_size(target.value, n);
      if (!Number.isNaN(bytes)) set(typed, bytes);
    }
  });

  root.addEventListener('change', (event) => {
    const { target } = event;
    if (!(target instanceof HTMLInputElement)) return;
    const { pick, typed } = target.dataset;
    const shown = play.current();
    if (typed !== undefined) {
      now.typing = null;
      play.render();
    }
    if (pick === undefined || !shown) return;
    const tried = play.try_of(shown.number);
    const others = target.type === 'radio' ? {} : tried.guess;
    tried.guess = { ...others, [pick]: Number(target.checked) };
    now.trouble = null;
    play.render();
  });

  // --- Drawing ---

  /** @param {PointerEvent} event */
  function draw(event) {
    const shown = play.current();
    const target = event.target instanceof Element ? event.target : null;
    const bar = target?.closest('[data-draw]');
    const plan = target?.closest('[data-plan]');
    const field = bar ?? plan;
    if (!shown?.known || !field) return;
    const box = field.getBoundingClientRect();
    const x = Math.max(0, Math.min(0.9999, (event.clientX - box.left) / box.width));
    const y = Math.max(0, Math.min(1, 1 - (event.clientY - box.top) / box.height));
    now.typing = null;
    if (bar) return set(bar.getAttribute('data-draw') ?? '', x * shown.top);
    set(shown.items[Math.floor(x * shown.items.length)].key, y * shown.top);
  }
  root.addEventListener('pointerdown', (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const field = target?.closest('[data-draw], [data-plan]');
    if (!field || event.button !== 0) return;
    event.preventDefault();
    field.setPointerCapture(event.pointerId);
    draw(event);
  });
  root.addEventListener('pointermove', (event) => {
    if (event.buttons !== 0) draw(event);
  });

  // --- Keys ---

  const forward = ['ArrowRight', 'ArrowDown', 'PageDown', ' ', 'n'];
  const back = ['ArrowLeft', 'ArrowUp', 'PageUp', 'Backspace', 'p'];
  document.addEventListener('keydown', (event) => {
    if (root.hidden || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target instanceof HTMLElement ? event.target : null;
    const typing = target?.matches('input, textarea, select') === true;
    if (event.key === 'Enter' && typing) {
      if (target.matches('#code')) return open_code();
      if (
        play.place().scene === 'exercise' &&
        target.matches('[data-typed], [data-amount], [data-pick]')
      ) {
        event.preventDefault();
        reveal(true);
      }
      return;
    }
    if (play.place().scene !== 'presenter') return;
    if (event.key === 'Escape') {
      if (typing) return target.blur();
      const link = root.querySelector('.foot a');
      if (link instanceof HTMLElement) link.click();
      return;
    }
    if (typing || (event.key === ' ' && target?.matches('button, a'))) return;
    if (forward.includes(event.key)) turn(1);
    else if (back.includes(event.key)) turn(-1);
    else if (event.key === 'Home') turn(-play.count_slides());
    else if (event.key === 'End') turn(play.count_slides());
    else if (event.key === 'f') void toggle_full();
    else return;
    event.preventDefault();
  });
}

async function toggle_full() {
  if (document.fullscreenElement) return document.exitFullscreen();
  await document.documentElement.requestFullscreen?.().catch(() => {});
}
