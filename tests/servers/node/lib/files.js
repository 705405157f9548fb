// Files that hold JSON, below one folder.
'use strict';

const fs = require('fs').promises;
const path = require('path');

class Files {
	constructor(folder) {
		this.folder = folder;
	}

	path(kind, name) {
		if (!/^[a-z0-9-]+$/i.test(name))
			throw new RangeError(`no name: ${name}`);
		return path.join(this.folder, kind, `${name}.json`);
	}

	async create(...kinds) {
		for (const kind of kinds)
			await fs.mkdir(path.join(this.folder, kind), { recursive: true });
	}

	async write(kind, name, content) {
		await fs.writeFile(this.path(kind, name), JSON.stringify(content));
	}

	/* undefined: there is none */
	async read(kind, name) {
		try {
			return JSON.parse(await fs.readFile(this.path(kind, name), 'utf8'));
		} catch (error) {
			if (error.code === 'ENOENT')
				return undefined;
			throw error;
		}
	}

	async names(kind) {
		const files = await fs.readdir(path.join(this.folder, kind));

		return files.filter((file) => file.endsWith('.json')).map((file) => file.slice(0, -5)).sort();
	}

	async remove(kind, name) {
		await fs.rm(this.path(kind, name), { force: true });
	}

	async append(name, line) {
		await fs.appendFile(path.join(this.folder, name), `${line}\n`);
	}
}

module.exports = { Files };
