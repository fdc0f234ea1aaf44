//! Reads tensors from a `model.safetensors`, and only those that are needed.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use ndarray::{Array1, Array2};
use safetensors::Dtype;
use safetensors::tensor::Metadata;
use xxhash_rust::xxh3::Xxh3;

use crate::error::{Error, io_failed, unusable};

/// A longer list of tensors is no list of tensors.
const LONGEST_LIST: u64 = 16 << 20;
/// The number of samples hashed to identify a model.
const SAMPLES: u64 = 64;
const SAMPLE: usize = 4096;

/// A file of tensors, open.
#[derive(Debug)]
pub(crate) struct Weights {
    path: PathBuf,
    file: File,
    list: Metadata,
    /// The offset at which the numbers start.
    start: u64,
    length: u64,
    /// The common prefix of all names.
    prefix: &'static str,
}

/// The place of a matrix in the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tensor {
    rows: usize,
    columns: usize,
    offset: u64,
}

impl Weights {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(io_failed("open", path))?;
        let length = file.metadata().map_err(io_failed("look at", path))?.len();
        let mut size = [0; 8];
        file.read_exact_at(&mut size, 0).map_err(io_failed("read", path))?;
        let end = u64::from_le_bytes(size).checked_add(8);
        let end = end.filter(|end| *end <= length.min(LONGEST_LIST));
        let end = end.ok_or_else(|| unusable(path, "it does not begin as a safetensors file does"))?;
        let mut list = vec![0; usize::try_from(end).unwrap_or_default()];
        file.read_exact_at(&mut list, 0).map_err(io_failed("read", path))?;
        let list: Metadata = serde_json::from_slice(&list[8..]).map_err(|error| unusable(path, error))?;
        let prefixes = ["", "bert."].into_iter();
        let has = |prefix: &&str| list.info(&format!("{prefix}embeddings.LayerNorm.weight")).is_some();
        let prefix = prefixes.clone().find(has).ok_or_else(|| unusable(path, "it holds no BERT model"))?;
        Ok(Self { path: path.to_owned(), file, list, start: end, length, prefix })
    }

    /// The hash of the list of tensors and of samples from the whole file, which identifies the weights.
    pub(crate) fn hash(&self) -> Result<u64, Error> {
        let mut hasher = Xxh3::new();
        hasher.update(&self.length.to_le_bytes());
        let mut sample = [0; SAMPLE];
        let last = self.length.saturating_sub(SAMPLE as u64);
        for number in 0..SAMPLES {
            let read = self.file.read_at(&mut sample, last / (SAMPLES - 1) * number);
            let read = read.map_err(io_failed("read", &self.path))?;
            hasher.update(&sample[..read]);
        }
        Ok(hasher.digest())
    }

    pub(crate) fn tensor(&self, name: &str, shape: &[usize; 2]) -> Result<Tensor, Error> {
        let offset = self.offset(name, shape)?;
        Ok(Tensor { rows: shape[0], columns: shape[1], offset })
    }

    /// A matrix of any number of rows.
    pub(crate) fn rows_of(&self, name: &str, columns: usize) -> Result<Tensor, Error> {
        let info = self.list.info(&format!("{}{name}", self.prefix));
        let rows = info.and_then(|info| info.shape.first().copied()).unwrap_or(0);
        self.tensor(name, &[rows, columns])
    }

    /// A row of a matrix.
    pub(crate) fn row(&self, tensor: &Tensor, row: usize) -> Result<Vec<f32>, Error> {
        if row >= tensor.rows {
            return Err(unusable(&self.path, format_args!("it has no row {row}")));
        }
        self.numbers(tensor.offset + 4 * (row * tensor.columns) as u64, tensor.columns)
    }

    pub(crate) fn matrix(&self, name: &str, rows: usize, columns: usize) -> Result<Array2<f32>, Error> {
        let numbers = self.numbers(self.offset(name, &[rows, columns])?, rows * columns)?;
        Array2::from_shape_vec((rows, columns), numbers).map_err(|error| unusable(&self.path, error))
    }

    pub(crate) fn vector(&self, name: &str, length: usize) -> Result<Array1<f32>, Error> {
        Ok(Array1::from_vec(self.numbers(self.offset(name, &[length])?, length)?))
    }

    /// Finds the offset of a tensor and checks its shape.
    fn offset(&self, name: &str, shape: &[usize]) -> Result<u64, Error> {
        let name = format!("{}{name}", self.prefix);
        let info = self.list.info(&name);
        let info = info.ok_or_else(|| unusable(&self.path, format_args!("it holds no `{name}`")))?;
        if info.dtype != Dtype::F32 {
            let says = format_args!("`{name}` is of type {:?}; only F32 is read", info.dtype);
            return Err(unusable(&self.path, says));
        }
        if info.shape != shape {
            let says =
                format_args!("`{name}` is of shape {:?}, where the config asks for {shape:?}", info.shape);
            return Err(unusable(&self.path, says));
        }
        let (begin, end) = info.data_offsets;
        let is_there = self.start.checked_add(end as u64).is_some_and(|end| end <= self.length);
        if !is_there || end.checked_sub(begin) != shape.iter().product::<usize>().checked_mul(4) {
            return Err(unusable(&self.path, "it is shorter than it says"));
        }
        Ok(self.start + begin as u64)
    }

    fn numbers(&self, offset: u64, count: usize) -> Result<Vec<f32>, Error> {
        let mut bytes = vec![0; 4 * count];
        self.file.read_exact_at(&mut bytes, offset).map_err(io_failed("read", &self.path))?;
        Ok(bytes.as_chunks().0.iter().map(|number| f32::from_le_bytes(*number)).collect())
    }
}
