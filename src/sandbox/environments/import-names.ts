/**
 * Which package provides a module. Only listed names are ever suggested: a package with the name of a module can belong to someone else
 * (`edgar` is edgartools, `parallel` is parallel-web), and models invent names.
 */

/** `module` for a package of the same name, `module=package` otherwise. */
const PYTHON = `
  PIL=pillow yaml=pyyaml cv2=opencv-python-headless sklearn=scikit-learn bs4=beautifulsoup4 dotenv=python-dotenv docx=python-docx
  pptx=python-pptx fitz=pymupdf pymupdf dateutil=python-dateutil jwt=pyjwt Crypto=pycryptodome OpenSSL=pyopenssl
  serial=pyserial usb=pyusb git=gitpython github=pygithub gitlab=python-gitlab magic=python-magic skimage=scikit-image
  Bio=biopython telegram=python-telegram-bot discord=discord.py slack_sdk=slack-sdk jose=python-jose attr=attrs
  MySQLdb=mysqlclient psycopg2=psycopg2-binary pkg_resources=setuptools ruamel=ruamel.yaml mpl_toolkits=matplotlib
  markdown=markdown jinja2 markupsafe=markupsafe edgar=edgartools parallel=parallel-web stable_baselines3=stable-baselines3
  mp_api=mp-api tdc=pytdc esm=fair-esm speech_recognition=SpeechRecognition pytesseract playwright
  googleapiclient=google-api-python-client google_auth_oauthlib=google-auth-oauthlib sentence_transformers=sentence-transformers
  faiss=faiss-cpu umap=umap-learn hdbscan igraph=python-igraph networkx pygments=pygments lxml html2text
  readability=readability-lxml newspaper=newspaper3k feedparser trafilatura youtube_transcript_api=youtube-transcript-api
  yt_dlp=yt-dlp moviepy pydub ffmpeg=ffmpeg-python whisper=openai-whisper faster_whisper=faster-whisper
  requests numpy pandas matplotlib scipy pypdf PyPDF2=pypdf2 httpx defusedxml torch openai anthropic mcp litellm
  openpyxl xlsxwriter=xlsxwriter xlrd pdf2image pdfplumber markitdown reportlab camelot=camelot-py tabula=tabula-py
  pydicom ete3 gymnasium pymatgen gget lightning deepchem opentrons pymc arviz pufferlib simpy scanpy pydeseq2
  timesfm probeinterface spikeinterface lifelines medchem datamol tqdm seaborn psutil scholarly h5py arboreto scvelo rdkit pymoo
  bioservices labarchivespy=labarchives-py transformers datasets accelerate tokenizers tiktoken huggingface_hub=huggingface-hub
  tensorflow keras jax flax xgboost lightgbm catboost statsmodels plotly bokeh altair dash streamlit gradio
  flask fastapi uvicorn starlette django aiohttp websockets websocket=websocket-client urllib3 certifi
  pydantic pydantic_settings=pydantic-settings click typer rich colorama tabulate termcolor prompt_toolkit=prompt-toolkit
  questionary textual loguru structlog tenacity backoff cachetools diskcache filelock orjson ujson msgpack toml tomli tomlkit
  tomli_w=tomli-w jsonschema json5 simplejson xmltodict cssselect parsel scrapy selenium mechanize
  boto3 botocore redis pymongo sqlalchemy=sqlalchemy psycopg asyncpg aiosqlite peewee duckdb polars pyarrow
  pymysql=pymysql cryptography paramiko fabric nacl=pynacl bcrypt passlib itsdangerous
  pytest hypothesis black ruff mypy nltk spacy gensim textblob langdetect rapidfuzz fuzzywuzzy Levenshtein=levenshtein
  sympy cvxpy pulp ortools numba dask joblib shapely geopandas folium rasterio pyproj geopy astropy pysam anndata
  imageio imageio_ffmpeg=imageio-ffmpeg wordcloud qrcode svgwrite cairosvg=cairosvg weasyprint pikepdf pdfminer=pdfminer.six
  docx2txt docxtpl odf=odfpy ebooklib=ebooklib mammoth markdownify nbformat nbconvert papermill jupyter_client=jupyter-client
  langchain langgraph llama_index=llama-index chromadb pinecone qdrant_client=qdrant-client weaviate=weaviate-client cohere
  mistralai replicate elevenlabs stripe twilio sendgrid notion_client=notion-client tweepy praw
  arxiv feedgen icalendar vobject pytz tzlocal holidays humanize unidecode=unidecode emoji phonenumbers
  pexpect watchdog schedule apscheduler=apscheduler croniter docker kubernetes ansible jmespath yfinance ccxt
  mutagen soundfile librosa pyttsx3 gtts=gtts edge_tts=edge-tts piexif exifread=exifread zstandard py7zr rarfile
  semver packaging setuptools wheel pathspec gitdb networkit tree_sitter=tree-sitter libcst jedi
`;

/** Debian packages of modules that scripts commonly import. */
const DEBIAN = `
  PIL=python3-pil yaml=python3-yaml cv2=python3-opencv sklearn=python3-sklearn bs4=python3-bs4 dotenv=python3-dotenv
  docx=python3-docx pptx=python3-pptx fitz=python3-fitz dateutil=python3-dateutil jwt=python3-jwt Crypto=python3-pycryptodome
  OpenSSL=python3-openssl serial=python3-serial git=python3-git magic=python3-magic skimage=python3-skimage Bio=python3-biopython
  attr=python3-attr MySQLdb=python3-mysqldb psycopg2=python3-psycopg2 pkg_resources=python3-pkg-resources
  ruamel=python3-ruamel.yaml mpl_toolkits=python3-matplotlib jinja2=python3-jinja2 lxml=python3-lxml requests=python3-requests
  numpy=python3-numpy pandas=python3-pandas matplotlib=python3-matplotlib scipy=python3-scipy pypdf=python3-pypdf
  PyPDF2=python3-pypdf2 httpx=python3-httpx defusedxml=python3-defusedxml openpyxl=python3-openpyxl xlrd=python3-xlrd
  xlsxwriter=python3-xlsxwriter reportlab=python3-reportlab networkx=python3-networkx seaborn=python3-seaborn tqdm=python3-tqdm
  psutil=python3-psutil h5py=python3-h5py sympy=python3-sympy flask=python3-flask django=python3-django aiohttp=python3-aiohttp
  click=python3-click rich=python3-rich tabulate=python3-tabulate jsonschema=python3-jsonschema toml=python3-toml
  tomli=python3-tomli markdown=python3-markdown pygments=python3-pygments feedparser=python3-feedparser boto3=python3-boto3
  redis=python3-redis pymongo=python3-pymongo sqlalchemy=python3-sqlalchemy pymysql=python3-pymysql cryptography=python3-cryptography
  paramiko=python3-paramiko pytest=python3-pytest nltk=python3-nltk selenium=python3-selenium pydantic=python3-pydantic
  pexpect=python3-pexpect watchdog=python3-watchdog pytz=python3-tz simplejson=python3-simplejson unidecode=python3-unidecode
  packaging=python3-packaging setuptools=python3-setuptools pydicom=python3-pydicom astropy=python3-astropy
  statsmodels=python3-statsmodels torch=python3-torch odf=python3-odf icalendar=python3-icalendar qrcode=python3-qrcode
`;

function pairs(text: string): ReadonlyMap<string, string> {
  return new Map(
    text
      .trim()
      .split(/\s+/)
      .map((entry) => entry.split('='))
      .map(([module = '', name]) => [module, name ?? module]),
  );
}

const PYTHON_PACKAGES = pairs(PYTHON);
const DEBIAN_PACKAGES = pairs(DEBIAN);

/** The package that provides a Python module, or undefined where it is not known for sure. */
export function packageOfModule(module: string): string | undefined {
  return PYTHON_PACKAGES.get(module);
}

export function debianPackageOfModule(module: string): string | undefined {
  return DEBIAN_PACKAGES.get(module);
}

/** Top-level modules of the standard library, of Python 3.8 to 3.14. */
export const STANDARD_MODULES: ReadonlySet<string> = new Set(
  `__future__ __main__ _thread abc aifc annotationlib antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb
  binascii binhex bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys compileall
  compression concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal
  difflib dis distutils doctest dummy_threading email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch
  formatter fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http
  idlelib imaplib imghdr imp importlib inspect io ipaddress itertools json keyword lib2to3 linecache locale logging lzma mailbox
  mailcap marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path numbers
  opcode operator optparse os ossaudiodev parser pathlib pdb pickle pickletools pipes pkgutil platform plistlib poplib posix
  posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re readline reprlib
  resource rlcompleter runpy sched secrets select selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket
  socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct subprocess sunau
  symbol symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap this threading time timeit tkinter
  token tokenize tomllib trace traceback tracemalloc tty turtle turtledemo types typing unicodedata unittest urllib uu uuid venv
  warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo`.split(
    /\s+/,
  ),
);
