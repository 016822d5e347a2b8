"""A small extension, packed as the .vsix that `--install-extension` takes."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

CONTENT_TYPES = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension=".json" ContentType="application/json"/>
<Default Extension=".js" ContentType="application/javascript"/>
<Default Extension=".vsixmanifest" ContentType="text/xml"/>
</Types>"""

MANIFEST = """<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
<Metadata>
<Identity Language="en-US" Id="{name}" Version="{version}" Publisher="{publisher}"/>
<DisplayName>{name}</DisplayName>
<Description xml:space="preserve">{description}</Description>
</Metadata>
<Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
<Dependencies/>
<Assets>
<Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
</Assets>
</PackageManifest>"""


def pack(folder: Path, into: Path, *more: Path) -> Path:
    """`folder`'s files, and `more` beside them, as a .vsix in the folder `into`."""
    about = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    into.mkdir(parents=True, exist_ok=True)
    packed = into / f"{about['publisher']}.{about['name']}.vsix"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", CONTENT_TYPES)
        archive.writestr("extension.vsixmanifest", MANIFEST.format(**about))
        for file in (*sorted(folder.rglob("*")), *more):
            if file.is_file():
                inside = file.relative_to(folder) if folder in file.parents else Path(file.name)
                archive.write(file, f"extension/{inside}")
    return packed
