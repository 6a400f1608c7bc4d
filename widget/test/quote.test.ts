import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findQuote, lettersOf } from '../src/core/quote';

const PAGE = ['Checking\n the ', 'Result', ' — “never” trust a ', 'calibration', ' that has only seen air.', 'Weigh a pot: ٢٠ فیصد پانی، یعنی مٹی', '.'];

function found(quote: string): string | undefined {
  const place = findQuote(lettersOf(PAGE), quote);
  if (!place) return undefined;
  const { start, end } = place;
  return PAGE.slice(start.text, end.text + 1)
    .map((text, at, all) => text.slice(at === 0 ? start.offset : 0, at === all.length - 1 ? end.offset : undefined))
    .join('');
}

test('a quote is found across punctuation, spaces and elements', () => {
  assert.equal(found('Never **trust** a\n`calibration`'), 'never” trust a calibration');
  assert.equal(found('NEVER TRUST A CALIBRATION…'), 'never” trust a calibration');
  assert.equal(found('۔ فیصد پانی، یعنی مٹی'), 'فیصد پانی، یعنی مٹی');
});

test('the longest matching beginning is found', () => {
  assert.match(found('trust a calibration that has only seen air. <Quiz question="which">') ?? '', /^trust a calibration that has/);
});

test('a few letters are not enough, and missing text is not found', () => {
  assert.equal(found('air'), undefined);
  assert.equal(found(''), undefined);
  assert.equal(found('an entirely different sentence'), undefined);
});
