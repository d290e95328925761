//! The page as files, for any server of files.

use crate::failure::Failure;
use crate::web::headers::HEADERS;
use crate::web::site::Site;
use std::fs;
use std::io;
use std::path::Path;

/// Writes the page, with what its server has to be told, into a folder that is new or empty.
pub fn export(site: &Site, folder: &Path) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::error(format_args!("can not write to {}: {error}", folder.display()));
    match fs::read_dir(folder) {
        Ok(mut entries) => {
            if entries.next().is_some() {
                let text = format!("{} is not empty: give a new or an empty folder", folder.display());
                return Err(Failure::command(text));
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir_all(folder).map_err(failed)?,
        Err(error) => return Err(failed(error)),
    }
    for (name, file) in site.files() {
        let path = folder.join(name);
        path.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(path, &file.content))
            .map_err(failed)?;
    }
    fs::write(folder.join("README.md"), readme()).map_err(failed)
}

/// What the server has to be told, in the languages of some.
fn readme() -> String {
    let lines = |line: fn(&str, &str) -> String| HEADERS.map(|(name, value)| line(name, value)).join("\n");
    include_str!("export/README.md")
        .replace("@HEADERS@", &lines(|name, value| format!("    {name}: {value}")))
        .replace("@NGINX@", &lines(|name, value| format!("        add_header {name} \"{value}\" always;")))
        .replace("@CADDY@", &lines(|name, value| format!("            {name} \"{value}\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recipe_has_every_header() {
        let text = readme();
        assert!(!["@HEADERS@", "@NGINX@", "@CADDY@"].iter().any(|mark| text.contains(mark)), "{text}");
        for (name, value) in HEADERS {
            for line in [
                format!("    {name}: {value}\n"),
                format!("    add_header {name} \"{value}\" always;\n"),
                format!("    {name} \"{value}\"\n"),
            ] {
                assert!(text.contains(&line), "{line}");
            }
        }
    }
}
