# What many a Python sample does: poll the document once a second with requests.
import sys
import time

import requests

session = requests.Session()
url = sys.argv[1] + "/metadata/scheduledevents?api-version=2020-07-01"
while True:
    session.get(url, headers={"Metadata": "true"}, timeout=10).json()
    time.sleep(1)
