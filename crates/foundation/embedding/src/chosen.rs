//! An embedding model chosen by the user instead of the built-in table: a transformer on disk, or an endpoint.

use std::path::PathBuf;
use std::time::Duration;

use crate::endpoint::{ApiKey, Endpoint};
use crate::error::Error;
use crate::hub::cached;
use crate::projection::TEACHER_HASH;
use crate::sentences::SentenceModel;
use crate::vector::Vector;

/// The embedding model chosen by the user.
#[derive(Debug, Clone)]
pub enum ModelChoice {
    /// A sentence-transformers model in a folder.
    Folder(PathBuf),
    /// A model in the local cache of the Hugging Face hub, by its name on the hub.
    Hub {
        /// The folder of the hub's cache.
        cache: PathBuf,
        /// The name of the model as `owner/name`.
        name: String,
    },
    /// An OpenAI-compatible endpoint.
    Endpoint {
        /// Its address, with `/v1`.
        url: String,
        /// The name of the model to request.
        model: String,
        /// The key of the account.
        key: Option<ApiKey>,
        /// The timeout of one request.
        timeout: Duration,
    },
}

/// A chosen model, ready to embed.
#[derive(Debug)]
pub struct ChosenModel {
    name: String,
    embeds: Backend,
}

#[derive(Debug)]
enum Backend {
    Transformer(Box<SentenceModel>),
    Endpoint(Endpoint),
}

impl ModelChoice {
    /// The name to show to the user.
    pub fn name(&self) -> String {
        match self {
            Self::Folder(folder) => folder.display().to_string(),
            Self::Hub { name, .. } => name.clone(),
            Self::Endpoint { url, model, .. } => format!("{model} at {url}"),
        }
    }

    /// Opens it: weights are looked at, an endpoint is not asked yet.
    pub fn open(&self) -> Result<ChosenModel, Error> {
        let transformer =
            |folder: &PathBuf| SentenceModel::open(folder).map(|model| Backend::Transformer(Box::new(model)));
        let embeds = match self {
            Self::Folder(folder) => transformer(folder)?,
            Self::Hub { cache, name } => transformer(&cached(cache, name)?)?,
            Self::Endpoint { url, model, key, timeout } => {
                Backend::Endpoint(Endpoint::new(url, model, key.clone(), *timeout)?)
            }
        };
        Ok(ChosenModel { name: self.name(), embeds })
    }
}

impl ChosenModel {
    /// The name to show to the user.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The hash that identifies the model's vectors.
    pub fn hash(&self) -> u64 {
        match &self.embeds {
            Backend::Transformer(model) => model.model().hash,
            Backend::Endpoint(endpoint) => endpoint.hash(),
        }
    }

    /// Whether the table in the binary was distilled from it: then `to_table` brings its vectors among the
    /// table's.
    pub fn is_teacher(&self) -> bool {
        self.hash() == TEACHER_HASH
    }

    /// Embeds texts in order, with `None` for a text without words. A transformer uses `threads` threads. `pause`
    /// waits before a busy endpoint is asked again, and returns false to give up.
    pub fn embed(
        &self,
        texts: &[&str],
        threads: usize,
        pause: impl FnMut(Duration) -> bool,
    ) -> Result<Vec<Option<Vector>>, Error> {
        match &self.embeds {
            Backend::Transformer(model) => on_threads(model, texts, threads),
            Backend::Endpoint(endpoint) => endpoint.embed(texts, pause),
        }
    }
}

fn on_threads(model: &SentenceModel, texts: &[&str], threads: usize) -> Result<Vec<Option<Vector>>, Error> {
    let share = texts.len().div_ceil(threads.max(1)).max(1);
    let part = |texts: &[&str]| texts.iter().map(|text| model.embed(text)).collect::<Result<Vec<_>, _>>();
    let mut parts = texts.chunks(share);
    let Some(own) = parts.next() else { return Ok(Vec::new()) };
    std::thread::scope(|scope| {
        let others: Vec<_> = parts.map(|texts| scope.spawn(move || part(texts))).collect();
        let own = part(own);
        let joined = others
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        Ok(std::iter::once(own).chain(joined).collect::<Result<Vec<_>, _>>()?.concat())
    })
}
