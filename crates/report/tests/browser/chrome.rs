//! A headless Chromium with one page open.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder, Locator};
use http::Method;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use url::{ParseError, Url};

/// How long a test may take.
const LIMIT: Duration = Duration::from_secs(120);

/// A browser that shows a page from a file.
pub(crate) struct Chrome {
    pub(crate) client: Client,
    /// Where files are saved.
    pub(crate) downloads: PathBuf,
}

/// Ends the driver, and with it the browser.
struct Driver(Child);

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Opens `html` in a browser like [`open_file`].
pub(crate) fn open(html: &str, test: impl AsyncFnOnce(&Chrome)) {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("report.html");
    std::fs::write(&page, html).unwrap();
    open_file(&page, folder.path(), test);
}

/// Opens a page in a browser and runs `test`. Then fails if the page has written to the console or asked for anything but
/// itself. Skipped where Chromium is missing, except under CI, and in quick runs (`cargo xtask ci quick`).
pub(crate) fn open_file(page: &Path, downloads: &Path, test: impl AsyncFnOnce(&Chrome)) {
    if std::env::var_os("FTK_TEST_QUICK").is_some() {
        return;
    }
    let mut driver = Command::new("chromedriver");
    let driver = match driver.arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn() {
        Ok(driver) => Driver(driver),
        Err(_) if std::env::var_os("CI").is_none() => return,
        Err(error) => panic!("chromedriver is needed: {error}"),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        timeout(LIMIT, run(driver, downloads, page, test)).await.expect("the test takes too long");
    });
}

async fn run(mut driver: Driver, downloads: &Path, page: &Path, test: impl AsyncFnOnce(&Chrome)) {
    let output = BufReader::new(driver.0.stdout.take().unwrap());
    let port = output.lines().find_map(|line| {
        let line = line.unwrap();
        Some(line.split_once("successfully on port ")?.1.trim_end_matches('.').to_owned())
    });
    let address = format!("http://127.0.0.1:{}", port.expect("the driver has started"));
    let capabilities = json!({
        "browserName": "chrome",
        "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
        "goog:chromeOptions": {
            // As root, Chromium runs only without its sandbox.
            "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,1000"],
            "prefs": { "download.default_directory": downloads },
        },
    });
    let Value::Object(capabilities) = capabilities else { unreachable!("it is an object") };
    let client =
        ClientBuilder::new(HttpConnector::new()).capabilities(capabilities).connect(&address).await.unwrap();
    let chrome = Chrome { client, downloads: downloads.to_owned() };
    chrome.client.goto(&format!("file://{}", page.display())).await.unwrap();
    test(&chrome).await;
    let console = chrome.log("browser").await;
    assert_eq!(console, [] as [Value; 0], "messages on the console");
    let requests: Vec<_> =
        chrome.log("performance").await.into_iter().filter_map(|it| request(&it)).collect();
    let is_own =
        |url: &String| url.starts_with("file://") || url.starts_with("data:") || url.starts_with("blob:");
    assert!(requests.iter().any(is_own) && requests.iter().all(is_own), "{requests:?}");
    chrome.client.clone().close().await.unwrap();
}

/// Returns the address that an event of the performance log requests.
fn request(event: &Value) -> Option<String> {
    let message: Value = serde_json::from_str(event["message"].as_str()?).ok()?;
    let message = &message["message"];
    (message["method"] == "Network.requestWillBeSent")
        .then(|| message["params"]["request"]["url"].as_str())?
        .map(Into::into)
}

impl Chrome {
    /// Runs a function body in the page, and returns what it returns.
    pub(crate) async fn eval(&self, script: &str) -> Value {
        self.client.execute(script, Vec::new()).await.unwrap()
    }

    /// Waits until a function body in the page returns true.
    pub(crate) async fn wait(&self, script: &str) {
        for _ in 0..100 {
            if self.eval(script).await == true {
                return;
            }
            sleep(Duration::from_millis(50)).await;
        }
        panic!("never true: {script}");
    }

    /// Waits until a file has been saved under this name, and returns its path.
    pub(crate) async fn saved(&self, name: &str) -> PathBuf {
        let file = self.downloads.join(name);
        for _ in 0..200 {
            if file.exists() {
                return file;
            }
            sleep(Duration::from_millis(50)).await;
        }
        let names = std::fs::read_dir(&self.downloads).unwrap().map(|it| it.unwrap().file_name());
        panic!("{name} was not saved: {:?}", names.collect::<Vec<_>>());
    }

    /// Returns the text of the element that matches a selector.
    pub(crate) async fn text(&self, selector: &str) -> String {
        let script = format!("return document.querySelector({}).textContent", json!(selector));
        self.eval(&script).await.as_str().unwrap().to_owned()
    }

    /// Clicks on an element in the middle of the window. The driver scrolls only to what is outside of it, and the bar of
    /// decisions may cover the rest.
    pub(crate) async fn click(&self, what: Locator<'_>) {
        let element = self.client.find(what).await.unwrap();
        let argument = serde_json::to_value(&element).unwrap();
        let scroll = "arguments[0].scrollIntoView({ block: 'center', behavior: 'instant' })";
        self.client.execute(scroll, vec![argument]).await.unwrap();
        element.click().await.unwrap();
    }

    /// Executes a command of the DevTools protocol.
    pub(crate) async fn devtools(&self, command: &str, params: Value) -> Value {
        self.issue("goog/cdp/execute", json!({ "cmd": command, "params": params })).await
    }

    /// Returns the entries that a log has gained.
    async fn log(&self, kind: &str) -> Vec<Value> {
        self.issue("se/log", json!({ "type": kind })).await.as_array().unwrap().clone()
    }

    async fn issue(&self, path: &'static str, body: Value) -> Value {
        self.client.issue_cmd(Vendor { path, body }).await.unwrap()
    }
}

/// A command of ChromeDriver that the WebDriver standard lacks.
#[derive(Debug)]
struct Vendor {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Vendor {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/{}", session.expect("a session"), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.body.to_string()))
    }
}
