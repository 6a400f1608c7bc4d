//! Removes data of a former release that this one cannot use.

use super::{SqliteCatalog, begin_write};
use crate::catalog::{CatalogError, OF_AN_INDEX};

impl SqliteCatalog {
    /// Deletes all indexes with their documents. Conversations, feedback and the question log stay.
    ///
    /// # Errors
    /// Those of any call.
    pub async fn forget_indexes(&self) -> Result<(), CatalogError> {
        self.run(|connection| {
            let transaction = begin_write(connection)?;
            for table in OF_AN_INDEX.iter().chain(&["indexes"]) {
                transaction.execute(&format!("DELETE FROM {table}"), ())?;
            }
            Ok(transaction.commit()?)
        })
        .await
    }
}
