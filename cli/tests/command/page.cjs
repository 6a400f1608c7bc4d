// Drives the page as a reader does, by keyboard; fails with the first thing that is not as it should be.
const assert = require("node:assert");
const { chromium } = require("playwright-core");

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

async function main() {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
  try {
    for (const colorScheme of ["light", "dark"]) {
      const page = await browser.newPage({ colorScheme, viewport: { width: 900, height: 800 } });
      const problems = [];
      page.on("pageerror", (error) => problems.push(error.message));
      page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
      await page.goto(process.env.URL);
      await page.keyboard.press("/");
      await page.keyboard.type("how do I calibrate the soil moisture probe?");
      await page.keyboard.press("Enter");
      const link = page.locator('a[href*="/soil-moisture#"]').first();
      await link.waitFor();
      await page.getByText(/Answer complete/).waitFor();
      const href = await link.getAttribute("href");
      await link.focus();
      await page.keyboard.press("Enter");
      await page.waitForURL((url) => url.pathname + url.hash === href);
      const target = page.locator(":target");
      assert.ok(await target.isVisible(), "the cited heading is on the page");

      await page.goto(process.env.URL + "/?q=what%20is%20the%20capital%20of%20France");
      await page.getByText("I don't have information on that in the textbook.", { exact: true }).waitFor();
      assert.deepStrictEqual(problems, []);
      await page.close();
    }
  } finally {
    await browser.close();
  }
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
