//! A sentence-transformers model in a folder: its files read and checked, its tokens pooled to one vector.
//!
//! What such a folder can ask for and we do not do is an error that names it: another family than BERT,
//! another pooling than the mean or the first token, layers behind the pooling.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use ndarray::Axis;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::bert::{Bert, Sizes};
use crate::error::{Error, io_failed, unusable};
use crate::rows::VectorModel;
use crate::vector::Vector;
use crate::vocabulary::Vocabulary;
use crate::weights::Weights;
use crate::wordpiece::Tokenizer;

/// The maximum size of a model's files besides the weights, in bytes.
const LARGEST_FILE: u64 = 64 << 20;

/// The sizes of all-MiniLM-L6-v2, which is the packed model, but for the number of positions.
const PACKED: Sizes = Sizes {
    hidden_size: 384,
    num_hidden_layers: 6,
    num_attention_heads: 12,
    intermediate_size: 1536,
    max_position_embeddings: 128,
    vocab_size: 30522,
    layer_norm_eps: 1e-12,
};

/// A transformer, ready to embed.
#[derive(Debug)]
pub struct SentenceModel {
    folder: PathBuf,
    bert: Bert,
    vocabulary: Vocabulary,
    pooling: Pooling,
    /// The token numbers of `[CLS]` and `[SEP]`.
    ends: [u32; 2],
    /// Tokens the model looks at, the two ends included.
    longest: usize,
    model: VectorModel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pooling {
    Mean,
    First,
}

#[derive(Deserialize)]
struct Config {
    model_type: String,
    #[serde(default = "gelu")]
    hidden_act: String,
    #[serde(default = "absolute")]
    position_embedding_type: String,
    #[serde(flatten)]
    sizes: Sizes,
}

fn gelu() -> String {
    "gelu".to_owned()
}

fn absolute() -> String {
    "absolute".to_owned()
}

#[derive(Deserialize)]
struct Module {
    path: String,
    r#type: String,
}

#[derive(Deserialize, Default)]
struct SentenceConfig {
    max_seq_length: Option<usize>,
}

#[derive(Deserialize, Default)]
struct TokenizerConfig {
    do_lower_case: Option<bool>,
    strip_accents: Option<bool>,
    tokenize_chinese_chars: Option<bool>,
}

impl SentenceModel {
    /// Opens the model in a folder: `config.json`, `model.safetensors`, `vocab.txt` and the files of
    /// sentence-transformers.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let sizes = sizes(folder)?;
        let pooling = pooling(folder)?;
        check_tokenizer(folder)?;
        let path = folder.join("vocab.txt");
        let lines = text(&path)?;
        let vocabulary = Vocabulary::from_lines(&lines).filter(|all| all.len() <= sizes.vocab_size);
        let vocabulary = vocabulary.ok_or_else(|| unusable(&path, "it holds more tokens than the model"))?;
        let end = |token: &str| {
            vocabulary.number(token).ok_or_else(|| unusable(&path, format_args!("it holds no {token}")))
        };
        let ends = [end("[CLS]")?, end("[SEP]")?];
        let sentence: SentenceConfig = json_or_default(&folder.join("sentence_bert_config.json"))?;
        let longest = sentence.max_seq_length.unwrap_or(usize::MAX).clamp(3, sizes.max_position_embeddings);
        let weights = Weights::open(&folder.join("model.safetensors"))?;
        let settings = format!("{pooling:?} {longest}");
        let mut hasher = xxhash_rust::xxh3::Xxh3::with_seed(weights.hash()?);
        hasher.update(lines.as_bytes());
        hasher.update(settings.as_bytes());
        let model = VectorModel { hash: hasher.digest(), dimensions: sizes.hidden_size };
        let bert = Bert::open(weights, &sizes)?;
        Ok(Self { folder: folder.to_owned(), bert, vocabulary, pooling, ends, longest, model })
    }

    /// The packed model in the binary; `None` in a program that was built without it.
    pub fn built_in() -> Option<Result<Self, Error>> {
        #[cfg(has_packed_model)]
        let packed = Some(include_bytes!(concat!(env!("OUT_DIR"), "/model.safetensors")).as_slice());
        #[cfg(not(has_packed_model))]
        let packed: Option<&'static [u8]> = None;
        packed.map(|packed| Self::from_packed(Cow::Borrowed(packed)))
    }

    /// Whether the program has it.
    pub fn is_built_in() -> bool {
        cfg!(has_packed_model)
    }

    /// all-MiniLM-L6-v2 as the build script packs it; its vocabulary is that of the built-in table.
    pub fn from_packed(bytes: Cow<'static, [u8]>) -> Result<Self, Error> {
        let weights = Weights::packed(bytes)?;
        let vocabulary = Vocabulary::built_in();
        let folder = PathBuf::from("the packed model");
        let end = |token: &str| vocabulary.number(token).ok_or_else(|| unusable(&folder, "it has no ends"));
        let ends = [end("[CLS]")?, end("[SEP]")?];
        let model = VectorModel { hash: weights.hash()?, dimensions: PACKED.hidden_size };
        let bert = Bert::open(weights, &PACKED)?;
        let longest = PACKED.max_position_embeddings;
        Ok(Self { folder, bert, vocabulary, pooling: Pooling::Mean, ends, longest, model })
    }

    /// The model's hash and the length of its vectors.
    pub fn model(&self) -> VectorModel {
        self.model
    }

    /// Embeds as much of a text as the model was made for; `None` if the text has no word and no sign.
    pub fn embed(&self, text: &str) -> Result<Option<Vector>, Error> {
        let mut tokens = vec![self.ends[0]];
        Tokenizer::new(&self.vocabulary).cut(text, &mut tokens);
        if tokens.len() == 1 {
            return Ok(None);
        }
        self.embed_tokens(tokens)
    }

    /// The state of a single token between the two end tokens, from which a table is distilled.
    pub fn state_of(&self, token: u32) -> Result<Vec<f32>, Error> {
        let states = self.bert.states(&[self.ends[0], token, self.ends[1]])?;
        Ok(states.row(1).to_vec())
    }

    /// The vector of tokens that begin with `[CLS]`.
    fn embed_tokens(&self, mut tokens: Vec<u32>) -> Result<Option<Vector>, Error> {
        tokens.truncate(self.longest - 1);
        tokens.push(self.ends[1]);
        let states = self.bert.states(&tokens)?;
        let pooled = match self.pooling {
            Pooling::Mean => states.sum_axis(Axis(0)),
            Pooling::First => states.row(0).to_owned(),
        };
        let vector = Vector::normalized(pooled.to_vec());
        vector.map(Some).ok_or_else(|| unusable(&self.folder, "its weights give no numbers"))
    }
}

fn sizes(folder: &Path) -> Result<Sizes, Error> {
    let path = folder.join("config.json");
    let config: Config = json(&path)?;
    let asked = [
        ("model_type", &config.model_type, "bert"),
        ("hidden_act", &config.hidden_act, "gelu"),
        ("position_embedding_type", &config.position_embedding_type, "absolute"),
    ];
    for (name, value, known) in asked {
        if value != known {
            return Err(unusable(&path, format_args!("its {name} is `{value}`; only `{known}` is known")));
        }
    }
    let sizes = config.sizes;
    let is_even =
        sizes.num_attention_heads > 0 && sizes.hidden_size.is_multiple_of(sizes.num_attention_heads);
    let is_small =
        sizes.hidden_size <= 8192 && sizes.intermediate_size <= 65536 && sizes.num_hidden_layers <= 128;
    let is_usable = is_even && is_small && sizes.max_position_embeddings >= 3;
    is_usable.then_some(sizes).ok_or_else(|| unusable(&path, "its sizes are not those of a BERT model"))
}

/// Reads the kind of pooling. A folder without a list of modules has a bare BERT, for which sentence-transformers
/// uses the mean.
fn pooling(folder: &Path) -> Result<Pooling, Error> {
    let path = folder.join("modules.json");
    if !path.exists() {
        return Ok(Pooling::Mean);
    }
    let mut pooling = Pooling::Mean;
    for module in json::<Vec<Module>>(&path)? {
        match module.r#type.rsplit('.').next().unwrap_or_default() {
            // Vectors have length one in any case.
            "Transformer" | "Normalize" => {}
            "Pooling" if is_name(&module.path) => {
                pooling = pooling_of(&folder.join(module.path).join("config.json"))?;
            }
            other => {
                return Err(unusable(&path, format_args!("it asks for a `{other}`, which is not known")));
            }
        }
    }
    Ok(pooling)
}

fn pooling_of(path: &Path) -> Result<Pooling, Error> {
    let config: serde_json::Map<String, serde_json::Value> = json(path)?;
    let modes = config.iter().filter_map(|(name, is_on)| Some((name.strip_prefix("pooling_mode_")?, is_on)));
    let modes: Vec<_> =
        modes.filter(|(_, is_on)| is_on.as_bool() == Some(true)).map(|(mode, _)| mode).collect();
    match modes[..] {
        ["mean_tokens"] => Ok(Pooling::Mean),
        ["cls_token"] => Ok(Pooling::First),
        _ => Err(unusable(path, "it asks for another pooling than the mean or the first token")),
    }
}

fn check_tokenizer(folder: &Path) -> Result<(), Error> {
    let path = folder.join("tokenizer_config.json");
    let config: TokenizerConfig = json_or_default(&path)?;
    let switched_off = [config.do_lower_case, config.strip_accents, config.tokenize_chinese_chars];
    if switched_off.contains(&Some(false)) {
        return Err(unusable(&path, "its tokenizer is not the uncased one of BERT"));
    }
    Ok(())
}

/// Whether a name is a single path component.
fn is_name(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
    !name.is_empty() && !name.starts_with('.') && name.chars().all(is_letter)
}

fn json<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    serde_json::from_str(&text(path)?).map_err(|error| unusable(path, error))
}

fn json_or_default<T: DeserializeOwned + Default>(path: &Path) -> Result<T, Error> {
    if path.exists() { json(path) } else { Ok(T::default()) }
}

fn text(path: &Path) -> Result<String, Error> {
    let file = File::open(path).map_err(io_failed("open", path))?;
    let mut text = String::new();
    let read = file.take(LARGEST_FILE).read_to_string(&mut text).map_err(io_failed("read", path))?;
    if read as u64 == LARGEST_FILE {
        return Err(unusable(path, "it is too large"));
    }
    Ok(text)
}
