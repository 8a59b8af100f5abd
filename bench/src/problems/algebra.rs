//! Small dense matrices: Cholesky's factor and the systems it solves.

/// The lower factor of a positive definite matrix, rows of a vector each.
pub fn cholesky(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = matrix.len();
    let mut lower = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| lower[i][k] * lower[j][k]).sum();
            let rest = matrix[i][j] - known;
            lower[i][j] = if i == j { rest.sqrt() } else { rest / lower[j][j] };
        }
    }
    lower
}

/// Solves `L x = b`.
pub fn forward(lower: &[Vec<f64>], mut b: Vec<f64>) -> Vec<f64> {
    for i in 0..b.len() {
        let known: f64 = (0..i).map(|k| lower[i][k] * b[k]).sum();
        b[i] = (b[i] - known) / lower[i][i];
    }
    b
}

/// Solves `L' x = b`.
pub fn backward(lower: &[Vec<f64>], mut b: Vec<f64>) -> Vec<f64> {
    for i in (0..b.len()).rev() {
        let known: f64 = (i + 1..b.len()).map(|k| lower[k][i] * b[k]).sum();
        b[i] = (b[i] - known) / lower[i][i];
    }
    b
}

/// Solves `L L' x = b`.
pub fn solve(lower: &[Vec<f64>], b: Vec<f64>) -> Vec<f64> {
    backward(lower, forward(lower, b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_solved() {
        let matrix = vec![vec![4.0, 2.0, 0.6], vec![2.0, 5.0, 1.0], vec![0.6, 1.0, 3.0]];
        let x = solve(&cholesky(&matrix), vec![1.0, -2.0, 3.0]);
        for (row, b) in matrix.iter().zip([1.0, -2.0, 3.0]) {
            let product: f64 = row.iter().zip(&x).map(|(a, x)| a * x).sum();
            assert!((product - b).abs() < 1e-12);
        }
    }
}
