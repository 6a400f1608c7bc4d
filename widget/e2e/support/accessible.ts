import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Axe finds nothing; with `within`, in these elements alone, and nowhere in those that are not the panel's own. */
export async function expectAccessible(page: Page, within?: string, without?: string): Promise<void> {
  const axe = new AxeBuilder({ page }).withTags(RULES);
  if (within) axe.include(within);
  if (without) axe.exclude(without);
  const { violations } = await axe.analyze();
  const found = violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(' ')}: ${node.failureSummary}`));
  expect(found).toEqual([]);
}
