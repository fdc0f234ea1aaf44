//! The principal directions of a cloud of vectors, by Jacobi's rotations.

use ndarray::{Array2, Axis};

/// So many rounds are more than enough for any symmetric matrix.
const ROUNDS: usize = 30;

/// The `count` directions in which the rows, whose mean is nought, differ most: a column for each.
pub(crate) fn principal(rows: &Array2<f32>, count: usize) -> Array2<f32> {
    let wide = rows.mapv(f64::from);
    let (values, vectors) = of_symmetric(wide.t().dot(&wide) / wide.nrows().max(1) as f64);
    let mut args: Vec<usize> = (0..values.len()).collect();
    args.sort_by(|one, other| values[*other].total_cmp(&values[*one]));
    args.truncate(count);
    #[expect(clippy::cast_possible_truncation, reason = "they are used as f32")]
    vectors.select(Axis(1), &args).mapv(|number| number as f32)
}

/// The eigenvalues of a symmetric matrix, and its eigenvectors as columns.
fn of_symmetric(mut matrix: Array2<f64>) -> (Vec<f64>, Array2<f64>) {
    let size = matrix.nrows();
    let mut vectors = Array2::eye(size);
    let whole: f64 = matrix.iter().map(|number| number * number).sum();
    for _ in 0..ROUNDS {
        let beside: f64 =
            matrix.indexed_iter().filter(|((row, column), _)| row != column).map(|(_, n)| n * n).sum();
        if beside <= 1e-18 * whole {
            break;
        }
        for p in 0..size {
            for q in p + 1..size {
                // Pairs far below the overall bound are not rotated.
                if matrix[[p, q]].powi(2) > 1e-24 * whole {
                    rotate(&mut matrix, &mut vectors, p, q);
                }
            }
        }
    }
    (matrix.diag().to_vec(), vectors)
}

/// Turns the plane of two axes so that they no longer have to do with each other.
fn rotate(matrix: &mut Array2<f64>, vectors: &mut Array2<f64>, p: usize, q: usize) {
    let between = matrix[[p, q]];
    let theta = (matrix[[q, q]] - matrix[[p, p]]) / (2.0 * between);
    let tangent = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = tangent * cosine;
    let turn = |one: f64, other: f64| (cosine * one - sine * other, sine * one + cosine * other);
    for at in 0..matrix.nrows() {
        (matrix[[at, p]], matrix[[at, q]]) = turn(matrix[[at, p]], matrix[[at, q]]);
    }
    for at in 0..matrix.nrows() {
        (matrix[[p, at]], matrix[[q, at]]) = turn(matrix[[p, at]], matrix[[q, at]]);
    }
    for at in 0..matrix.nrows() {
        (vectors[[at, p]], vectors[[at, q]]) = turn(vectors[[at, p]], vectors[[at, q]]);
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn the_first_component_has_the_largest_variance() {
        let rows = array![[3.0, 3.0, 0.1], [-3.0, -3.0, 0.1], [1.0, -1.0, -0.1], [-1.0, 1.0, -0.1]];
        let directions = principal(&rows, 2);
        assert_eq!(directions.dim(), (3, 2));
        let half = 0.5_f32.sqrt();
        for (at, expected) in [(0, [half, half, 0.0]), (1, [half, -half, 0.0])] {
            let direction = directions.column(at);
            let cosine: f32 = direction.iter().zip(expected).map(|(one, other)| one * other).sum();
            assert!((cosine.abs() - 1.0).abs() < 1e-5, "{direction}");
        }
    }
}
