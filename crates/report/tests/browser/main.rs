//! The page in a real browser: it draws, zooms, searches, and saves decisions; hostile names do nothing.

mod chrome;
mod scene;

use std::fs;

use fantoccini::Locator;
use fantoccini::key::Key;
use ftk_inventory::Budget;
use ftk_report::{Data, HealthBuilder, page};
use serde_json::{Value, json};

use crate::chrome::{Chrome, open};
use crate::scene::{HOSTILE, data};

/// Returns how many colours the treemap of a view has, looking at every tenth pixel.
async fn colours(chrome: &Chrome, view: &str) -> u64 {
    let script = format!(
        "const canvas = document.querySelector('#{view} canvas');
         const copy = document.createElement('canvas');
         [copy.width, copy.height] = [canvas.width, canvas.height];
         const context = copy.getContext('2d', {{ willReadFrequently: true }});
         context.drawImage(canvas, 0, 0);
         const {{ data }} = context.getImageData(0, 0, copy.width, copy.height);
         const seen = new Set();
         for (let at = 0; at < data.length; at += 40) seen.add(data.slice(at, at + 3).join());
         return seen.size;"
    );
    chrome.eval(&script).await.as_u64().unwrap()
}

#[test]
fn the_treemap_is_drawn_and_zoomed() {
    open(&page(&data()), async |chrome: &Chrome| {
        assert_eq!(chrome.client.title().await.unwrap(), "/home/ann: ftk report");
        assert!(colours(chrome, "space").await > 5);
        assert_eq!(chrome.text("#space .crumbs").await, "/home/ann");
        let first = chrome.text("#space tbody tr:first-child th").await;

        // By click: on the first tile, which is the largest.
        chrome.client.find(Locator::Css("#space canvas")).await.unwrap();
        chrome
            .eval(
                "const canvas = document.querySelector('#space canvas');
                 const { left, top } = canvas.getBoundingClientRect();
                 canvas.dispatchEvent(new MouseEvent('click', { clientX: left + 5, clientY: top + 5, bubbles: true }));",
            )
            .await;
        assert_eq!(format!("{}/", chrome.text("#space .crumbs li:last-child").await), first);
        assert!(chrome.text("#space .status").await.contains("on disk"));

        // By the crumbs, then by the table.
        chrome.click(Locator::Css("#space .crumbs button")).await;
        assert_eq!(chrome.text("#space .crumbs").await, "/home/ann");
        chrome.click(Locator::Css("#space tbody button")).await;
        assert_eq!(chrome.text("#space .crumbs li:last-child").await + "/", first);
    });
}

#[test]
fn the_keyboard_is_enough() {
    open(&page(&data()), async |chrome: &Chrome| {
        let press = async |keys: &str| {
            let active = chrome.client.active_element().await.unwrap();
            active.send_keys(keys).await.unwrap();
        };
        let tab = char::from(Key::Tab).to_string();
        // Tab reaches the treemap.
        chrome.eval("document.querySelector('[role=tab]').focus()").await;
        for _ in 0..20 {
            if chrome.eval("return document.activeElement.matches('#space canvas')").await == true {
                break;
            }
            press(&tab).await;
        }
        assert_eq!(chrome.eval("return document.activeElement.tagName").await, "CANVAS");
        press(&char::from(Key::Right).to_string()).await;
        let chosen = chrome.text("#space .status").await;
        for open in [char::from(Key::Enter), ' '] {
            press(&open.to_string()).await;
            let entered = chrome.text("#space .crumbs li:last-child").await;
            assert!(chosen.starts_with(&entered), "{chosen}: {entered}");
            press(&char::from(Key::Escape).to_string()).await;
            assert_eq!(chrome.text("#space .crumbs").await, "/home/ann");
            press(&char::from(Key::Right).to_string()).await;
        }

        // Arrow keys change the view.
        chrome.eval("document.querySelector('[role=tab]').focus()").await;
        for view in ["duplicates", "changes", "health", "space"] {
            press(&char::from(Key::Right).to_string()).await;
            let shown = format!("return !document.getElementById('{view}').hidden");
            assert_eq!(chrome.eval(&shown).await, true, "{view}");
            assert_eq!(
                chrome.eval("return document.querySelectorAll('section:not([hidden])').length").await,
                1
            );
        }
    });
}

#[test]
fn sizes_colours_and_searches_change_the_treemap() {
    open(&page(&data()), async |chrome: &Chrome| {
        for colour in ["age", "owner", "waste", "type"] {
            chrome
                .client
                .find(Locator::Css("#space [data-part=colour]"))
                .await
                .unwrap()
                .select_by_value(colour)
                .await
                .unwrap();
            let keys = chrome.eval("return document.querySelectorAll('#space .legend li').length").await;
            assert!(keys.as_u64().unwrap() >= 3, "{colour}");
            assert!(colours(chrome, "space").await > 3, "{colour}");
        }
        let measure = chrome.client.find(Locator::Css("#space [data-part=measure]")).await.unwrap();
        measure.select_by_value("files").await.unwrap();
        let search = chrome.client.find(Locator::Css("#space [data-part=search]")).await.unwrap();
        search.send_keys("FILE07").await.unwrap();
        assert_eq!(chrome.text("#space [data-part=found-count]").await, "24 found");
        chrome.click(Locator::Css("#space .found button")).await;
        assert!(chrome.text("#space .crumbs").await.contains("sub"));
    });
}

#[test]
fn decisions_are_saved() {
    open(&page(&data()), async |chrome: &Chrome| {
        let find = async |selector: &'static str| chrome.client.find(Locator::Css(selector)).await.unwrap();
        let click = async |selector: &'static str| chrome.click(Locator::Css(selector)).await;
        click("#tab-duplicates").await;
        assert!(colours(chrome, "duplicates").await > 2);
        assert_eq!(chrome.eval("return document.querySelector('[data-part=save]').disabled").await, true);

        // A tick and its removal leave nothing to save.
        let first = "#duplicates fieldset:nth-of-type(3) label:nth-of-type(2) input";
        click(first).await;
        assert!(
            chrome
                .text("#duplicates [data-part=totals]")
                .await
                .starts_with("1 group decided: 2 files to remove")
        );
        let dropped = chrome.eval("return document.querySelectorAll('.dropped').length").await;
        assert_eq!(dropped, 2);
        click(first).await;
        assert_eq!(chrome.eval("return document.querySelector('[data-part=save]').disabled").await, true);
        click(first).await;

        // Directories whose names differ cannot be decided.
        let disabled =
            chrome.eval("return document.querySelectorAll('fieldset input:disabled').length").await;
        assert_eq!(disabled, 2);
        click("#duplicates fieldset:first-of-type label:first-of-type input").await;
        let totals = chrome.text("#duplicates [data-part=totals]").await;
        assert_eq!(totals, "2 groups decided: 2 files and 1 directory to remove, 66.0 MB.");

        // A rule decides the groups that have a file there.
        find("#duplicates [data-part=folder]").await.send_keys("/home/ann/pictures0/album3").await.unwrap();
        click("#duplicates [data-part=rule] button").await;
        let rule = chrome.text("#duplicates [data-part=rule-result]").await;
        assert_eq!(rule, "17 groups decided by this rule.");

        // The filter and the button for more.
        find("#duplicates [data-part=filter]").await.send_keys("album3").await.unwrap();
        assert_eq!(chrome.text("#duplicates [data-part=filter-count]").await, "17 groups in /home/ann");
        find("#duplicates [data-part=filter]").await.clear().await.unwrap();
        chrome
            .eval(
                "document.querySelector('#duplicates [data-part=filter]').dispatchEvent(new Event('input'))",
            )
            .await;
        let shown = "return document.querySelectorAll('#duplicates fieldset').length";
        assert_eq!(chrome.eval(shown).await, 50);
        click("#duplicates [data-part=more]").await;
        assert_eq!(chrome.eval(shown).await, 100);

        click("#duplicates [data-part=save]").await;
        let text = fs::read_to_string(chrome.saved("_home_ann.decisions.jsonl").await).unwrap();
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 1 + 19 + 1);
        assert_eq!(lines[0], json!({ "ftk": "dup-decisions" }));
        assert_eq!((&lines[1]["keep"], &lines[1]["directories"]), (&json!([0]), &json!(1)));
        assert_eq!((&lines[2]["keep"], &lines[2]["group"]), (&json!([1]), &json!(1)));
        assert_eq!((&lines[3]["keep"], &lines[3]["group"]), (&json!([0]), &json!(4)));
        assert_eq!(lines[20]["footer"]["records"], 20);
    });
}

/// The address names a view, and a view that is not on the page opens the first one.
#[test]
fn the_address_opens_a_view() {
    open(&page(&data()), async |chrome: &Chrome| {
        for (hash, view) in [("duplicates", "duplicates"), ("health", "health"), ("none", "space")] {
            chrome.eval(&format!("location.hash = '#{hash}'")).await;
            chrome.wait(&format!("return !document.getElementById('{view}').hidden")).await;
            let shown = "return document.querySelectorAll('section:not([hidden])').length";
            assert_eq!(chrome.eval(shown).await, 1, "{hash}");
        }
        chrome.eval("location.hash = '#health'; location.reload()").await;
        chrome.wait("return document.getElementById('health')?.hidden === false").await;
    });
}

/// Nothing about files that were never verified is green.
#[test]
fn what_was_never_verified_is_not_called_good() {
    let mut health = HealthBuilder::new(1_790_000_000, &Budget::new(u64::MAX));
    health.file(b"a", 1000, None, None).unwrap();
    let data = Data { health: Some(health.finish()), ..data() };
    open(&page(&data), async |chrome: &Chrome| {
        chrome.click(Locator::Css("#tab-health")).await;
        let verdict = chrome.text("#health [data-part=verdict]").await;
        assert_eq!(verdict, "No file is marked as damaged, and none has been verified.");
        assert_eq!(chrome.eval("return document.querySelectorAll('#health .good').length").await, 0);
        // A value above `low`, with an optimum that is not, is neither optimal nor green.
        let never = "const bar = document.querySelector('#health meter[aria-label=never]');
             return bar.value > bar.low && bar.optimum <= bar.low";
        assert_eq!(chrome.eval(never).await, true);
    });
}

#[test]
fn hostile_names_are_shown_and_do_nothing() {
    open(&page(&data()), async |chrome: &Chrome| {
        let all = "return document.body.textContent";
        for view in ["space", "duplicates", "changes", "health"] {
            let tab = format!("#tab-{view}");
            chrome.click(Locator::Css(&tab)).await;
        }
        let text = chrome.eval(all).await.as_str().unwrap().to_owned();
        for name in HOSTILE {
            assert!(text.contains(name), "{name}");
        }
        assert_eq!(chrome.eval("return window.pwned === undefined").await, true);
        assert_eq!(
            chrome.eval("return document.querySelectorAll('img, iframe, script[src]').length").await,
            0
        );
        let odd = "return /[\\u0000-\\u0008\\u000e-\\u001f\\u007f\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.textContent)";
        assert_eq!(chrome.eval(odd).await, false);
    });
}

#[test]
fn narrow_wide_light_and_dark_pages_are_complete() {
    open(&page(&data()), async |chrome: &Chrome| {
        for (width, scheme) in [(1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")] {
            let size = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
            chrome.devtools("Emulation.setDeviceMetricsOverride", size).await;
            let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
            chrome.devtools("Emulation.setEmulatedMedia", media).await;
            for view in ["space", "duplicates", "changes", "health"] {
                let tab = format!("#tab-{view}");
                chrome.click(Locator::Css(&tab)).await;
                // Tables scroll in their own regions; the page itself never scrolls sideways.
                let overflow =
                    "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
                assert_eq!(chrome.eval(overflow).await, 0, "{view}, {width}, {scheme}");
            }
            chrome
                .wait("const c = document.querySelector('#space canvas'); return c.hidden || c.width >= 0")
                .await;
            if let Some(folder) = std::env::var_os("FTK_TEST_SCREENSHOTS") {
                for view in ["space", "duplicates", "changes", "health"] {
                    let tab = format!("#tab-{view}");
                    chrome.click(Locator::Css(&tab)).await;
                    let png = chrome.client.screenshot().await.unwrap();
                    let name = format!("{view}-{width}-{scheme}.png");
                    fs::write(std::path::Path::new(&folder).join(name), png).unwrap();
                }
            }
        }
    });
}

#[test]
fn axe_finds_nothing() {
    // The rules of WCAG as a script, which the CI installs.
    let axe = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/web/node_modules/axe-core/axe.min.js");
    let axe = match fs::read_to_string(axe) {
        Ok(axe) => axe,
        Err(_) if std::env::var_os("CI").is_none() => return,
        Err(error) => panic!("axe-core is needed: {error}"),
    };
    open(&page(&data()), async |chrome: &Chrome| {
        chrome.eval(&axe).await;
        for scheme in ["light", "dark"] {
            let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
            chrome.devtools("Emulation.setEmulatedMedia", media).await;
            for view in ["space", "duplicates", "changes", "health"] {
                let tab = format!("#tab-{view}");
                chrome.click(Locator::Css(&tab)).await;
                let script = "const done = arguments[0]; axe.run().then((it) => done(it.violations))";
                let violations = chrome.client.execute_async(script, Vec::new()).await.unwrap();
                assert_eq!(violations, json!([]), "{view}, {scheme}");
            }
        }
    });
}

#[test]
fn a_page_of_the_largest_size_is_small_and_drawn() {
    let html = page(&scene::large());
    assert!(html.len() < 8_000_000, "{}", html.len());
    open(&html, async |chrome: &Chrome| {
        assert!(colours(chrome, "space").await > 3);
    });
}
