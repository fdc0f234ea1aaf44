//! Reads tensors of a `model.safetensors`, and only those that are needed: of a file, or of the packed model in the binary.
//!
//! In a packed model (`pack`) matrices have a byte for each number and a scale for each row, and the rows of tokens
//! half a byte for each number; all else is as in any other.

use std::borrow::Cow;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use ndarray::{Array1, Array2};
use safetensors::Dtype;
use safetensors::tensor::Metadata;
use xxhash_rust::xxh3::Xxh3;

use crate::error::{Error, io_failed, unusable};
use crate::half_bytes;
use crate::matrix::Matrix;

/// A longer list of tensors is no list of tensors.
const LONGEST_LIST: u64 = 16 << 20;
/// The number of samples hashed to identify a model.
const SAMPLES: u64 = 64;
const SAMPLE: usize = 4096;

/// Tensors, open for reading.
#[derive(Debug)]
pub(crate) struct Weights {
    path: PathBuf,
    source: Source,
    list: Metadata,
    /// The offset at which the numbers start.
    start: u64,
    length: u64,
    /// The common prefix of all names.
    prefix: &'static str,
}

/// Where the bytes are.
#[derive(Debug)]
enum Source {
    File(File),
    Memory(Cow<'static, [u8]>),
}

/// The place of a matrix in the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tensor {
    rows: usize,
    columns: usize,
    offset: u64,
    /// Whether each number is half a byte.
    is_halved: bool,
}

impl Source {
    fn read(&self, path: &Path, offset: u64, count: usize) -> Result<Cow<'static, [u8]>, Error> {
        let ends = || unusable(path, "it ends before its tensors do");
        match self {
            Self::File(file) => {
                let mut bytes = vec![0; count];
                file.read_exact_at(&mut bytes, offset).map_err(io_failed("read", path))?;
                Ok(Cow::Owned(bytes))
            }
            Self::Memory(all) => {
                let start = usize::try_from(offset).map_err(|_| ends())?;
                let range = start..start.checked_add(count).ok_or_else(ends)?;
                match all {
                    Cow::Borrowed(all) => all.get(range).map(Cow::Borrowed).ok_or_else(ends),
                    Cow::Owned(all) => all.get(range).map(|part| part.to_vec().into()).ok_or_else(ends),
                }
            }
        }
    }
}

impl Weights {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(io_failed("open", path))?;
        let length = file.metadata().map_err(io_failed("look at", path))?.len();
        Self::of(path, Source::File(file), length)
    }

    /// The tensors of a packed model.
    pub(crate) fn packed(bytes: Cow<'static, [u8]>) -> Result<Self, Error> {
        let length = bytes.len() as u64;
        Self::of(Path::new("the packed model"), Source::Memory(bytes), length)
    }

    fn of(path: &Path, source: Source, length: u64) -> Result<Self, Error> {
        let size = source.read(path, 0, 8)?;
        let end = size.first_chunk().map_or(0, |size| u64::from_le_bytes(*size)).checked_add(8);
        let end = end.filter(|end| *end <= length.min(LONGEST_LIST));
        let end = end.ok_or_else(|| unusable(path, "it does not begin as a safetensors file does"))?;
        let list = source.read(path, 8, usize::try_from(end - 8).unwrap_or_default())?;
        let list: Metadata = serde_json::from_slice(&list).map_err(|error| unusable(path, error))?;
        let prefixes = ["", "bert."].into_iter();
        let has = |prefix: &&str| list.info(&format!("{prefix}embeddings.LayerNorm.weight")).is_some();
        let prefix = prefixes.clone().find(has).ok_or_else(|| unusable(path, "it holds no BERT model"))?;
        Ok(Self { path: path.to_owned(), source, list, start: end, length, prefix })
    }

    /// The hash of the list of tensors and of samples from the whole file, which identifies the weights.
    pub(crate) fn hash(&self) -> Result<u64, Error> {
        let mut hasher = Xxh3::new();
        hasher.update(&self.length.to_le_bytes());
        let mut sample = [0; SAMPLE];
        let last = self.length.saturating_sub(SAMPLE as u64);
        for number in 0..SAMPLES {
            let offset = last / (SAMPLES - 1) * number;
            match &self.source {
                Source::File(file) => {
                    let read = file.read_at(&mut sample, offset).map_err(io_failed("read", &self.path))?;
                    hasher.update(&sample[..read]);
                }
                Source::Memory(_) => hasher.update(&self.source.read(&self.path, offset, SAMPLE)?),
            }
        }
        Ok(hasher.digest())
    }

    pub(crate) fn tensor(&self, name: &str, shape: &[usize; 2]) -> Result<Tensor, Error> {
        let [rows, columns] = *shape;
        if self.dtype(name) == Some(Dtype::U8) {
            let offset = self.offset(name, Dtype::U8, &[rows, half_bytes::row_length(columns)])?;
            return Ok(Tensor { rows, columns, offset, is_halved: true });
        }
        let offset = self.offset(name, Dtype::F32, shape)?;
        Ok(Tensor { rows, columns, offset, is_halved: false })
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
        if tensor.is_halved {
            let length = half_bytes::row_length(tensor.columns);
            let row = self.source.read(&self.path, tensor.offset + (row * length) as u64, length)?;
            return Ok(half_bytes::numbers(&row, tensor.columns));
        }
        self.numbers(tensor.offset + 4 * (row * tensor.columns) as u64, tensor.columns)
    }

    pub(crate) fn matrix(&self, name: &str, rows: usize, columns: usize) -> Result<Matrix, Error> {
        let shape = [rows, columns];
        if self.dtype(name) == Some(Dtype::I8) {
            let offset = self.offset(name, Dtype::I8, &shape)?;
            let bytes = self.source.read(&self.path, offset, rows * columns)?;
            return Ok(Matrix::packed(bytes, self.vector(&format!("{name}.scale"), rows)?, columns));
        }
        let numbers = self.numbers(self.offset(name, Dtype::F32, &shape)?, rows * columns)?;
        let matrix = Array2::from_shape_vec((rows, columns), numbers);
        matrix.map(Matrix::Whole).map_err(|error| unusable(&self.path, error))
    }

    pub(crate) fn vector(&self, name: &str, length: usize) -> Result<Array1<f32>, Error> {
        Ok(Array1::from_vec(self.numbers(self.offset(name, Dtype::F32, &[length])?, length)?))
    }

    fn dtype(&self, name: &str) -> Option<Dtype> {
        self.list.info(&format!("{}{name}", self.prefix)).map(|info| info.dtype)
    }

    /// Finds the offset of a tensor and checks its shape.
    fn offset(&self, name: &str, dtype: Dtype, shape: &[usize]) -> Result<u64, Error> {
        let name = format!("{}{name}", self.prefix);
        let info = self.list.info(&name);
        let info = info.ok_or_else(|| unusable(&self.path, format_args!("it holds no `{name}`")))?;
        if info.dtype != dtype {
            let says = format_args!("`{name}` is of type {:?}; only {dtype:?} is read", info.dtype);
            return Err(unusable(&self.path, says));
        }
        if info.shape != shape {
            let says =
                format_args!("`{name}` is of shape {:?}, where the config asks for {shape:?}", info.shape);
            return Err(unusable(&self.path, says));
        }
        let (begin, end) = info.data_offsets;
        let is_there = self.start.checked_add(end as u64).is_some_and(|end| end <= self.length);
        let size = if dtype == Dtype::F32 { 4 } else { 1 };
        if !is_there || end.checked_sub(begin) != shape.iter().product::<usize>().checked_mul(size) {
            return Err(unusable(&self.path, "it is shorter than it says"));
        }
        Ok(self.start + begin as u64)
    }

    fn numbers(&self, offset: u64, count: usize) -> Result<Vec<f32>, Error> {
        let bytes = self.source.read(&self.path, offset, 4 * count)?;
        Ok(bytes.as_chunks().0.iter().map(|number| f32::from_le_bytes(*number)).collect())
    }
}
